import type { Clock, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import type { Coordinator, RunRequest, WorkerEntry } from "@gossip/coordination";
import { NO_LABEL, readRunLabel, type RunLabel } from "@gossip/insight";
import type { LeaseWire } from "@gossip/protocol";
import type { Ownership } from "../ownership/ownership.ts";
import type { PeerSight } from "../ownership/peer-sight.ts";
import { ConsoleEventLog } from "./console-event-log.ts";
import type { InsightOptions } from "./insight-options.ts";
import type { RunView } from "./run-view.ts";
import { RunViews } from "./run-views.ts";

export interface ConsoleServiceOptions extends InsightOptions {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly ownership: Ownership | undefined;
  readonly random: (bytes: number) => Uint8Array;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const MAX_LABELS = 5000;
const MAX_OPERATIONS = 1000;
const MAX_WORKERS = 1000;

/** What the executors of the console share. */
export class ConsoleService {
  readonly options: ConsoleServiceOptions;
  readonly events: ConsoleEventLog;
  readonly views: RunViews;
  /** The other nodes of the cluster. */
  peers: PeerSight | undefined;
  readonly #labels = new Map<string, RunLabel>();
  readonly #operations = new Set<string>();

  constructor(options: ConsoleServiceOptions) {
    this.options = options;
    const {
      store,
      coordinator,
      clock,
      ownership,
      random,
      nowMs,
      sleep,
      hideKeys = false,
      lookEveryMs = 1000,
      isReadOnly = false,
    } = options;
    const hex = (size: number): string => Buffer.from(random(size)).toString("hex");
    this.events = new ConsoleEventLog(hex(6));
    const admit = (run: RunRequest): (() => void) | undefined => {
      if (ownership === undefined) return () => {};
      const admitted = ownership.admit(run.tenant, run.run);
      return admitted.ok ? () => admitted.value.release() : undefined;
    };
    const shared = { store, coordinator, clock, nowMs, sleep, admit };
    this.views = new RunViews({
      ...shared,
      events: this.events,
      isHiding: hideKeys,
      everyMs: lookEveryMs,
      isReadOnly,
      writer: hex(8),
    });
  }

  /** What a run is for, read from one of its shards and remembered: it never changes. */
  async labelOf({
    tenant,
    run,
    rootShards,
  }: RunRequest & { readonly rootShards: readonly bigint[] }): Promise<RunLabel> {
    const id = `${tenant}.${run}`;
    const known = this.#labels.get(id);
    const [first] = rootShards;
    if (known !== undefined || first === undefined) return known ?? NO_LABEL;
    const shard = await this.options.coordinator.getShard({ tenant, key: { run, shard: first as never } });
    if (!shard.ok || shard.value === undefined) return NO_LABEL;
    const label = readRunLabel(shard.value.spec);
    if (this.#labels.size >= MAX_LABELS) this.#labels.clear();
    this.#labels.set(id, label);
    return label;
  }

  /** The registered workers of a run, by id. */
  async workersOf(run: RunRequest): Promise<ReadonlyMap<WorkerId, WorkerEntry>> {
    const page = await this.options.coordinator.listWorkers({ ...run, limit: MAX_WORKERS });
    return new Map((page.ok ? page.value.items : []).map((entry) => [entry.worker, entry]));
  }

  /** Note that a worker whose lease was gone tried to write, if a page looks at its run. */
  noteRefusal({ lease }: { readonly lease?: LeaseWire }, kind: string): void {
    if (lease === undefined || (kind !== "StaleFence" && kind !== "LeaseExpired")) return;
    const id = (text: string): never => BigInt(`0x${text}`) as never;
    const view = this.views.find({ tenant: lease.tenant as TenantId, run: id(lease.run) });
    if (view !== undefined) void this.#noteRejection(view, id(lease.shard), id(lease.worker));
  }

  async #noteRejection(view: RunView, shard: ShardId, worker: WorkerId): Promise<void> {
    try {
      view.reject(shard, worker, Number(await this.options.clock.now()));
    } catch {
      // Without a time there is no place for it on the timeline.
    }
  }

  /** Remember an operation that no record remembers, so that repeating it gives the same answer. */
  remember(run: { readonly tenant: TenantId; readonly run: RunId }, opId: string): void {
    if (this.#operations.size >= MAX_OPERATIONS) this.#operations.clear();
    this.#operations.add(`${run.tenant}.${run.run}.${opId}`);
  }

  remembers(run: { readonly tenant: TenantId; readonly run: RunId }, opId: string): boolean {
    return this.#operations.has(`${run.tenant}.${run.run}.${opId}`);
  }

  async close(): Promise<void> {
    await this.views.close();
  }
}
