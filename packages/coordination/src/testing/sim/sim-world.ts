import { RunId, TenantId, WorkerId, type LogicalTime } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { Lease } from "../../records/lease.ts";
import { isLeasedAt, type ShardRecord } from "../../records/shard-record.ts";
import type { CoordinationStore } from "../../store/coordination-store.ts";
import { CommitWatch } from "./commit-watch.ts";
import type { FaultKind } from "./fault-level.ts";
import { InvariantChecker } from "./invariants/invariant-checker.ts";
import type { RunAddress, ShardAddress, Violation } from "./invariants/violation.ts";
import { ObservedStore, type StoreListener } from "./observed-store.ts";
import type { Random } from "./random.ts";
import { SimActor, SimTime, type SimConnect } from "./sim-actor.ts";
import { SimScheduler, type Settle } from "./sim-scheduler.ts";
import { SimWorker } from "./sim-worker.ts";
import { StoreMirror } from "./store-mirror.ts";

/** How large a world is. */
export interface WorldSize {
  readonly workers: number;
  readonly tenants: number;
  readonly runsPerTenant: number;
  readonly shardsPerRun: number;
}

export interface SimWorldOptions {
  readonly size: WorldSize;
  readonly store: CoordinationStore;
  readonly wrapStore: (store: CoordinationStore) => CoordinationStore;
  readonly isDirect: boolean;
  readonly settle: Settle;
  readonly noteFault: (kind: FaultKind) => void;
  readonly claimCooldown: bigint;
  /** The cooldown that the workers' coordinators use. It differs only for a planted bug. */
  readonly keptCooldown: bigint;
  readonly maxShardsPerTenant: number;
  readonly connect?: SimConnect | undefined;
}

const MAX_STALE_LEASES = 64;

/** The state of a run: the store, the actors that use it, and the checks. */
export class SimWorld {
  readonly time = new SimTime();
  readonly scheduler: SimScheduler;
  readonly mirror = new StoreMirror();
  readonly watch: CommitWatch;
  readonly checker: InvariantChecker;
  readonly workers: readonly SimWorker[];
  /** The operator, who creates and ends runs and needs no lease. */
  readonly operator: SimWorker;
  readonly tenants: readonly TenantId[];
  readonly violations: Violation[] = [];
  /** A tenant without runs. */
  readonly stranger: TenantId = TenantId.fromBytes(new Uint8Array(32).fill(0xee));
  /** Whether a clock was ever skewed. Reported capacities are then only approximate. */
  hasSkewedClocks = false;
  /** How often a capacity was compared with the true one. */
  capacitySamples = 0;
  /** Leases that an actor once held. */
  readonly #staleLeases: Lease[] = [];
  /** Above the ids of the first runs and of those that are reused by mistake. */
  #nextRun = 100;

  constructor(options: SimWorldOptions) {
    const { size, store, claimCooldown } = options;
    const report = (violation: Violation): void => void this.violations.push(violation);
    this.scheduler = new SimScheduler(options.settle);
    this.watch = new CommitWatch(this.mirror, report);
    this.checker = new InvariantChecker({ store, mirror: this.mirror, claimCooldown, report });
    this.tenants = Array.from({ length: size.tenants }, (_, index) =>
      TenantId.fromBytes(new Uint8Array(32).fill(index + 1)),
    );
    const limits = {
      maxShardsPerTenant: options.maxShardsPerTenant,
      maxShardsTotal: options.maxShardsPerTenant * size.tenants,
    };
    const listener: StoreListener = {
      noteCall: () => this.scheduler.noteCall(),
      accept: (actor, set) => this.watch.accept(actor, set),
    };
    const enlist = (raw: number): SimWorker => {
      const id = WorkerId.fromRaw(BigInt(raw));
      const observed = options.wrapStore(new ObservedStore(store, id, listener));
      return new SimWorker(
        new SimActor({
          id,
          time: this.time,
          scheduler: this.scheduler,
          noteFault: options.noteFault,
          store: observed,
          isDirect: options.isDirect,
          limits,
          claimCooldown: options.keptCooldown,
          connect: options.connect,
        }),
      );
    };
    this.operator = enlist(0);
    this.workers = Array.from({ length: size.workers }, (_, index) => enlist(index + 1));
  }

  /** The time that a correct clock shows. */
  get now(): LogicalTime {
    return this.operator.actor.clock.now();
  }

  /** An id that no run has had. */
  nextRunId(): RunId {
    return RunId.fromRaw(BigInt(this.#nextRun++));
  }

  isPaused({ pausedUntilStep }: SimWorker): boolean {
    return pausedUntilStep > this.scheduler.step;
  }

  get staleLeases(): readonly Lease[] {
    return this.#staleLeases;
  }

  report(violation: Violation): void {
    this.violations.push(violation);
  }

  wrong(operation: string, message: string): void {
    this.report({ kind: "WrongAnswer", operation, message });
  }

  /** A worker was granted a shard. Its former holder no longer holds it, and may come back as a zombie. */
  dispossess(winner: SimWorker, address: ShardAddress, random: Random): void {
    for (const worker of this.workers) {
      const held = worker === winner ? undefined : worker.held(address);
      if (held === undefined) continue;
      worker.drop(held.lease);
      this.addStaleLease(held.lease, random);
    }
  }

  addStaleLease(lease: Lease, random: Random): void {
    this.#staleLeases.push(lease);
    if (this.#staleLeases.length > MAX_STALE_LEASES)
      this.#staleLeases.splice(random.below(this.#staleLeases.length), 1);
  }

  /** The true runs. */
  get runs(): RunAddress[] {
    return [...this.mirror.runs].map(({ run: { tenant, run } }) => ({ tenant, run }));
  }

  /** The true shards for which `isWanted` returns `true`. */
  shards(isWanted: (shard: ShardRecord) => boolean): ShardRecord[] {
    return [...this.mirror.runs].flatMap(({ shards }) => [...shards.values()].filter(isWanted));
  }

  /** Active shards of runs that have not ended. */
  openShards(): ShardRecord[] {
    return [...this.mirror.runs].flatMap(({ run, shards }) =>
      run.status === "Active" ? [...shards.values()].filter(({ status }) => status === "Active") : [],
    );
  }

  /** The number of shards of a run that could be claimed at a time. */
  countAvailable({ tenant, run }: RunAddress, now: LogicalTime): number {
    const mirrored = this.mirror.run(tenant, run);
    assert(mirrored !== undefined, "a run whose shards are counted is there");
    return [...mirrored.shards.values()].filter((record) => record.status === "Active" && !isLeasedAt(record, now))
      .length;
  }
}
