import { TenantId, type Clock } from "@gossip/contracts";
import type { Coordinator, CoordinationEvent } from "@gossip/coordination";
import { ConsoleService } from "../console/console-service.ts";
import type { InsightOptions } from "../console/insight-options.ts";
import { EventLog } from "../events/event-log.ts";
import { OpaqueNumbers } from "../events/opaque-number.ts";
import { Admission } from "../limits/admission.ts";
import { makeLimits, type ServiceLimits } from "../limits/limits.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { ClusterControl } from "../move/cluster-control.ts";
import type { Ownership } from "../ownership/ownership.ts";
import { ClaimWaiters, type WaiterTimers } from "./claim-waiters.ts";
import { EndedRuns } from "./ended-runs.ts";
import { PausedRuns } from "./paused-runs.ts";
import { RecentClaims } from "./recent-claims.ts";
import { RequestTurn } from "./request-turn.ts";

export interface ServiceOptions {
  /** Make it with `shardCopies`, so that checkpoints need no read. */
  readonly coordinator: Coordinator;
  /** The coordinator's clock: the cluster's oracle. */
  readonly clock: Clock;
  /** What this node owns. It owns everything where this is left out. */
  readonly ownership?: Ownership | undefined;
  /** This node's part in a cluster, for its operators. */
  readonly cluster?: ClusterControl | undefined;
  /** What the web console needs. Without it the server has none. */
  readonly insight?: InsightOptions | undefined;
  readonly limits?: Partial<ServiceLimits>;
  /** Whether other nodes write to the store, so that waiting claims must look at it now and then. */
  readonly isStoreShared?: boolean;
  /** Grants `count` timestamps and returns the first. `undefined` if it cannot now. */
  readonly timestamps?: ((count: number) => Promise<bigint | undefined>) | undefined;
  /** Called with the reason for an internal error. Callers do not get it. */
  readonly onDefect?: (thrown: unknown) => void;
  readonly random: (bytes: number) => Uint8Array;
  readonly nowMs: () => number;
  readonly timers: WaiterTimers;
}

/** How often waiting claims look at a store that other nodes write to: once per run, however many wait. */
const POLL_MS = 500;

const ENDINGS: ReadonlySet<string> = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunDeleted"]);

/** What executes requests, without the sockets that they come from. */
export class Service {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly ownership: Ownership | undefined;
  readonly cluster: ClusterControl | undefined;
  readonly limits: ServiceLimits;
  readonly admission: Admission;
  readonly metrics = new Metrics();
  readonly waiters: ClaimWaiters;
  readonly recentClaims = new RecentClaims();
  readonly turn = new RequestTurn();
  readonly endedRuns = new EndedRuns();
  readonly pausedRuns: PausedRuns;
  readonly events: EventLog;
  readonly console: ConsoleService | undefined;
  readonly timestamps: ServiceOptions["timestamps"];
  readonly nowMs: () => number;
  readonly onDefect: (thrown: unknown) => void;
  /** A tenant that has nothing and never will: other tenants' things are looked for under its name. */
  readonly unknownTenant: TenantId;
  readonly #stopListening: readonly (() => void)[];
  #isDraining = false;

  constructor(options: ServiceOptions) {
    const { coordinator, clock, nowMs, timers, random, isStoreShared = false } = options;
    this.coordinator = coordinator;
    this.clock = clock;
    this.ownership = options.ownership ?? options.cluster?.ownership;
    this.cluster = options.cluster;
    this.nowMs = nowMs;
    this.timestamps = options.timestamps;
    this.onDefect = options.onDefect ?? (() => {});
    this.limits = makeLimits(options.limits);
    this.admission = new Admission(this.limits);
    this.pausedRuns = new PausedRuns(coordinator, nowMs);
    this.waiters = new ClaimWaiters({ timers, nowMs, pollMs: isStoreShared ? POLL_MS : undefined });
    this.unknownTenant = TenantId.fromBytes(random(32));
    this.events = new EventLog(random(OpaqueNumbers.KEY_SIZE), nowMs);
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => void timers.after(ms, resolve));
    this.console =
      options.insight &&
      new ConsoleService({ ...options.insight, coordinator, clock, ownership: this.ownership, random, nowMs, sleep });
    this.#stopListening = [
      coordinator.onEvent((event) => this.#observe(event)),
      this.ownership?.onChange(() => this.#wakeMoved()) ?? (() => {}),
    ];
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Stop taking on waiting claims, and end those that wait. */
  drain(): void {
    this.#isDraining = true;
    this.waiters.wakeEverything();
  }

  close(): void {
    this.drain();
    void this.console?.close();
    for (const stop of this.#stopListening) stop();
  }

  /** Waiting claims of runs that this node no longer owns are answered. */
  #wakeMoved(): void {
    const { ownership } = this;
    if (ownership !== undefined) this.waiters.wakeWhere(({ tenant, run }) => !ownership.isOwned(tenant, run));
  }

  #observe(event: CoordinationEvent): void {
    if (ENDINGS.has(event.kind)) this.endedRuns.add(event.tenant, event.run);
    this.waiters.observe(event);
    this.events.add(event);
    if (this.console?.options.recordsUnwatched === true) void this.console.views.keepHistory(event);
  }
}
