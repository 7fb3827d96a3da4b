// A fleet that is too large for one runtime per worker: the real coordinator, sessions, kernel and memory store, with small
// workers that follow the runtime's own policies for checkpoints, renewals, pauses and claims. Simulated time.
import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  MemoryStore,
  newRunRecord,
  newShardRecord,
  RANGE_EXHAUSTED,
  type CoordinationStore,
  type WorkerSession,
} from "@gossip/coordination";
import { FaultInjectingStore, ManualClock } from "@gossip/coordination/testing";
import { planSplit } from "../split/plan-split.ts";
import { makeCheckpointPolicy, mustRenew } from "../policy/checkpoint-policy.ts";
import { ClaimBackoff } from "../policy/claim-backoff.ts";
import { storePauseMs } from "../policy/store-pause.ts";
import { DistantStore } from "./distant-store.fixture.ts";
import { SimTime } from "./sim-time.fixture.ts";

export interface LargeFleetOptions {
  readonly workers: number;
  readonly shards: number;
  readonly seed: number;
  readonly leaseMs: number;
  readonly checkpointMs: number;
  /** How long a worker takes for a shard, on average. */
  readonly shardMs: number;
  readonly roundTripMs: number;
  readonly seconds: number;
  /** When the store is unavailable, in seconds. */
  readonly outage: { readonly from: number; readonly to: number };
  /** At this second one worker in a hundred crashes, and another one in a hundred pauses for two leases. */
  readonly crashAt: number;
}

export interface LargeFleetResult {
  /** Store operations in each second. */
  readonly opsPerSecond: readonly number[];
  readonly claims: number;
  readonly claimAttempts: number;
  readonly conflicts: number;
  readonly completed: number;
  readonly splits: number;
  readonly lostLeases: number;
  /** From a crash until another worker can have the shard, sorted. */
  readonly detectionMs: readonly number[];
}

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(7));
const RUN = RunId.fromRaw(9n);
const START = 1_000_000n;
const NODES = 16;
const PAGE = 10_000;

/** Runs the fleet for a while, through a crash of some workers and an outage of the store. */
export function runLargeFleet(options: LargeFleetOptions): Promise<LargeFleetResult> {
  return new LargeFleet(options).run();
}

class LargeFleet {
  readonly #options: LargeFleetOptions;
  readonly #time: SimTime;
  readonly #clock = new ManualClock(START);
  readonly #memory = new MemoryStore({ slabCapacity: 1 << 28 });
  readonly #ops: number[] = [];
  readonly #detectionMs: number[] = [];
  readonly #pausedUntil: Float64Array;
  readonly #hasCrashed: Uint8Array;
  #claims = 0;
  #claimAttempts = 0;
  #conflicts = 0;
  #completed = 0;
  #splits = 0;
  #lostLeases = 0;

  constructor(options: LargeFleetOptions) {
    this.#options = options;
    this.#pausedUntil = new Float64Array(options.workers);
    this.#hasCrashed = new Uint8Array(options.workers);
    this.#time = new SimTime({
      seed: options.seed,
      onAdvance: (nowMs) => this.#clock.set(START + BigInt(Math.floor(nowMs))),
    });
  }

  async run(): Promise<LargeFleetResult> {
    const { workers, seconds, crashAt } = this.#options;
    this.#fill();
    const nodes = Array.from({ length: NODES }, (_, node) => this.#connect(node));
    let failure: unknown;
    for (let index = 0; index < workers; index++)
      // A deployment starts its workers over ten seconds.
      this.#time.startTimer(this.#time.random() * 10_000, () => {
        this.#work(index, nodes[index % NODES]!).catch((error: unknown) => (failure ??= error));
      });
    this.#time.startTimer(1000 * crashAt, () => this.#disturb());
    await this.#time.runUntil(() => failure !== undefined || this.#time.nowMs >= 1000 * seconds, Infinity);
    if (failure !== undefined) throw failure;
    return {
      opsPerSecond: Array.from({ length: seconds }, (_, second) => this.#ops[second] ?? 0),
      claims: this.#claims,
      claimAttempts: this.#claimAttempts,
      conflicts: this.#conflicts,
      completed: this.#completed,
      splits: this.#splits,
      lostLeases: this.#lostLeases,
      detectionMs: this.#detectionMs.toSorted((a, b) => a - b),
    };
  }

  /** Shards in pages, through the store's own write path. */
  #fill(): void {
    const now = LogicalTime.fromRaw(START);
    const config = {
      cursorSemantics: "Completed",
      leaseDuration: BigInt(this.#options.leaseMs),
      maxShardRetries: undefined,
    } as const;
    const after = {
      ...newRunRecord({ tenant: TENANT, run: RUN, config, now }),
      status: "Active",
      rootShards: [ShardId.fromRaw(0n)],
    } as const;
    const limits = { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 };
    let guard: number | undefined;
    for (let first = 0; first < this.#options.shards; first += PAGE) {
      const created = Array.from({ length: Math.min(PAGE, this.#options.shards - first) }, (_, index) =>
        newShardRecord({
          tenant: TENANT,
          key: { run: RUN, shard: ShardId.fromRaw(BigInt(first + index)) },
          spec: ShardSpec.withRange({ start: keyOf(first + index, 0), end: keyOf(first + index + 1, 0) }),
          cursor: Cursor.initial(),
          cursorSemantics: "Completed",
          parent: undefined,
          now,
        }),
      );
      const [answer] = this.#memory.commit([
        { kind: "PutRun", tenant: TENANT, run: RUN, guard, after, created, limits, noShardsIn: [] },
      ]);
      if (answer?.kind !== "Committed") throw new Error("the shards were not stored");
      guard = answer.version as number;
    }
  }

  #connect(node: number): Coordinator {
    const { outage, roundTripMs } = this.#options;
    const isDown = (): boolean => this.#time.nowMs >= 1000 * outage.from && this.#time.nowMs < 1000 * outage.to;
    const counted = (): void => {
      const second = Math.floor(this.#time.nowMs / 1000);
      this.#ops[second] = (this.#ops[second] ?? 0) + 1;
    };
    const faulty: CoordinationStore = new FaultInjectingStore(this.#memory, {
      onRead: () => {
        counted();
        return isDown() ? "Failed" : undefined;
      },
      onCommit: () => {
        counted();
        return isDown() ? "Failed" : undefined;
      },
    });
    let next = BigInt(node + 1) << 48n;
    return new Coordinator({
      // One trip for each call: writes that share a commit share the trip.
      store: new DistantStore(faulty, () => this.#time.sleep(roundTripMs)),
      clock: this.#clock,
      limits: { maxShardsPerTenant: 1e9, maxShardsTotal: 1e9 },
      retry: { sleep: (ms) => this.#time.sleep(ms), random: () => this.#time.random() },
      newOpId: () => OpId.fromRaw(next++),
    });
  }

  #disturb(): void {
    const { workers, leaseMs } = this.#options;
    for (let index = 0; index < workers; index += 100) this.#hasCrashed[index] = 1;
    for (let index = 50; index < workers; index += 100) this.#pausedUntil[index] = this.#time.nowMs + 2 * leaseMs;
  }

  async #work(index: number, coordinator: Coordinator): Promise<void> {
    const worker = WorkerId.fromRaw(BigInt(index + 1));
    const backoff = new ClaimBackoff();
    while (this.#hasCrashed[index] === 0) {
      this.#claimAttempts++;
      const claimed = await coordinator.claim({ tenant: TENANT, run: RUN, worker });
      if (!claimed.ok) {
        if (claimed.error.kind !== "BackendError" && claimed.error.kind !== "NoneAvailable") return;
        if (claimed.error.kind === "NoneAvailable") this.#conflicts++;
        await this.#time.sleep(backoff.nextWaitMs({ untilFreeMs: undefined, random: this.#time.random() }));
        continue;
      }
      backoff.reset();
      this.#claims++;
      await this.#hold(index, claimed.value);
    }
  }

  /** The worker is gone. Its shard can be claimed once the lease has expired. */
  #noteCrash({ lease: { deadline } }: WorkerSession): void {
    this.#detectionMs.push(Number(deadline - START) - 1000 * this.#options.crashAt);
  }

  async #hold(index: number, session: WorkerSession): Promise<void> {
    const { leaseMs, checkpointMs, shardMs } = this.#options;
    const policy = makeCheckpointPolicy({ ms: checkpointMs }, leaseMs);
    const endMs = this.#time.nowMs + shardMs * (0.5 + this.#time.random());
    const isSplit = this.#time.random() < 0.02;
    let [renewedMs, failures, items] = [this.#time.nowMs, 0, 0];
    for (;;) {
      const waitMs =
        failures > 0 ? storePauseMs({ failures, renewMs: policy.renewMs, random: this.#time.random() }) : checkpointMs;
      await this.#time.sleep(failures > 0 ? waitMs : Math.min(waitMs, Math.max(1, endMs - this.#time.nowMs)));
      if (this.#hasCrashed[index] === 1) return this.#noteCrash(session);
      const pausedMs = this.#pausedUntil[index]! - this.#time.nowMs;
      if (pausedMs > 0) await this.#time.sleep(pausedMs);
      const nowMs = this.#time.nowMs;
      if (nowMs >= endMs) {
        const done = await session.complete(RANGE_EXHAUSTED);
        if (done.ok) this.#completed++;
        if (done.ok || done.error.kind !== "BackendError") return void (this.#lostLeases += done.ok ? 0 : 1);
        failures++;
        continue;
      }
      items++;
      const shard = Number(session.shardKey.shard & 0xffff_ffffn);
      const key = Cursor.withLastKey(Uint8Array.of(...session.spec.keyRangeStart, ...keyOf(shard, items)));
      const renew = mustRenew(policy, { nowMs, renewedMs, writeMs: this.#options.roundTripMs });
      const stored = await session.checkpoint(key, { renew });
      if (!stored.ok && stored.error.kind !== "BackendError") return void this.#lostLeases++;
      failures = stored.ok ? 0 : failures + 1;
      if (stored.ok && renew) renewedMs = nowMs;
      if (stored.ok && isSplit && items === 1) await this.#split(session);
    }
  }

  async #split(session: WorkerSession): Promise<void> {
    const { keyRangeStart } = session.spec;
    const plan = planSplit(session.spec, session.cursor, Uint8Array.of(...keyRangeStart, 0xff));
    if (plan !== undefined && (await session.splitResidual(plan)).ok) this.#splits++;
  }
}

function keyOf(shard: number, item: number): Uint8Array {
  const key = new Uint8Array(item === 0 ? 5 : 7);
  const view = new DataView(key.buffer);
  view.setUint32(1, shard);
  if (item > 0) view.setUint16(5, item);
  return key;
}
