// The real runtime, coordinator and kernel on the memory store, in simulated time: one process per worker.
import { OpId, RunId, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CommitAnswer, type WriteSet } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { runWorkers } from "../runtime/run-workers.ts";
import type { RunWorkersOptions } from "../runtime/run-workers-options.ts";
import { startRun } from "../runtime/start-run.ts";
import { DistantStore } from "./distant-store.fixture.ts";
import { jobSource, type JobItem } from "./job-source.fixture.ts";
import type { JobWorld, WorkerPlan } from "./job-world.fixture.ts";
import { ProcessTime, SimTime } from "./sim-time.fixture.ts";

export interface FleetOptions {
  readonly roundTripMs: number;
  readonly leaseMs: number;
  /** Planned shards. */
  readonly shardCount: number;
  readonly split?: RunWorkersOptions["split"];
}

export interface FleetResult {
  /** When the last shard was completed. */
  readonly completionMs: number;
  /** Calls of `process`, repeated items included. */
  readonly itemsBegun: number;
  readonly itemsMissed: number;
  readonly shardsMade: number;
  readonly splits: number;
  /** Calls of the store, by name. */
  readonly storeCalls: ReadonlyMap<string, number>;
}

const RUN = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(7)), run: RunId.fromRaw(9n) };
const START = 1_000_000n;
const LIMITS = { maxShardsPerTenant: 1e8, maxShardsTotal: 1e8 };

/** Works on a job until all of it is done. The result depends on the world and the options alone. */
export async function runFleet(world: JobWorld, options: FleetOptions): Promise<FleetResult> {
  const fleet = new SimulatedFleet(world, options);
  return fleet.run();
}

class FollowedStore extends MemoryStore {
  readonly #onCommit: (sets: readonly WriteSet[]) => void;

  constructor(onCommit: (sets: readonly WriteSet[]) => void) {
    super({ slabCapacity: 1 << 28 });
    this.#onCommit = onCommit;
  }

  override commit(sets: readonly WriteSet[]): readonly CommitAnswer[] {
    const answers = super.commit(sets);
    this.#onCommit(sets.filter((_, index) => answers[index]!.kind === "Committed"));
    return answers;
  }
}

class SimulatedFleet {
  readonly #world: JobWorld;
  readonly #options: FleetOptions;
  readonly #time: SimTime;
  readonly #clock = new ManualClock(START);
  readonly #store = new FollowedStore((sets) => this.#follow(sets));
  readonly #calls = new Map<string, number>();
  readonly #begun: Uint8Array;
  #itemsBegun = 0;
  #active = 0;
  #shardsMade = 0;
  #splits = 0;
  #completionMs = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(world: JobWorld, options: FleetOptions) {
    this.#world = world;
    this.#options = options;
    this.#begun = new Uint8Array(world.costs.length);
    this.#time = new SimTime({
      seed: world.seed,
      onAdvance: (nowMs) => this.#clock.set(START + BigInt(Math.floor(nowMs))),
    });
  }

  async run(): Promise<FleetResult> {
    const { leaseMs, shardCount } = this.#options;
    const source = jobSource(this.#world);
    const coordinator = new Coordinator({ store: this.#store, clock: this.#clock, limits: LIMITS });
    const config = { leaseDuration: BigInt(leaseMs) };
    unwrap(await startRun({ coordinator, run: RUN, source, shardCount, config }));
    for (const [index, plan] of this.#world.workers.entries())
      this.#time.startTimer(plan.joinsAtMs, () => this.#join(index, plan));
    await this.#time.runUntil(
      () => this.#active === 0 || this.#failure !== undefined,
      20 * this.#world.idealMs + 100 * leaseMs,
    );
    if (this.#failure !== undefined) throw this.#failure.error;
    return {
      completionMs: this.#completionMs,
      itemsBegun: this.#itemsBegun,
      itemsMissed: this.#begun.reduce((missed, begun) => missed + (begun === 0 ? 1 : 0), 0),
      shardsMade: this.#shardsMade,
      splits: this.#splits,
      storeCalls: this.#calls,
    };
  }

  #join(index: number, { speed, diesAtMs }: WorkerPlan): void {
    const time = new ProcessTime(this.#time);
    if (diesAtMs < Infinity) this.#time.startTimer(diesAtMs - this.#time.nowMs, () => time.crash());
    const { roundTripMs, split } = this.#options;
    const newOpId = this.#opIds(index);
    const coordinator = new Coordinator({
      store: new DistantStore(this.#store, (call) => {
        this.#calls.set(call, (this.#calls.get(call) ?? 0) + 1);
        return time.sleep(roundTripMs);
      }),
      clock: this.#clock,
      limits: LIMITS,
      retry: { sleep: (ms) => time.sleep(ms), random: () => time.random() },
      newOpId,
    });
    const { costs } = this.#world;
    const process = ({ n }: JobItem): Promise<void> => {
      this.#begun[n] = 1;
      this.#itemsBegun++;
      return time.sleep(costs[n]! / speed);
    };
    const worker = WorkerId.fromRaw(BigInt(index + 1));
    const options = {
      coordinator,
      run: RUN,
      source: jobSource(this.#world),
      process,
      worker,
      time,
      newOpId,
      name: "w",
    };
    runWorkers(split === undefined ? options : { ...options, split }).catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  /** Op ids that depend on the worker alone, so that a run is the same every time. */
  #opIds(index: number): () => OpId {
    let next = BigInt(index + 1) << 32n;
    return () => OpId.fromRaw(next++);
  }

  /** Follows how many shards are unfinished. */
  #follow(sets: readonly WriteSet[]): void {
    for (const set of sets) {
      if (set.kind === "PutRun" || set.kind === "SplitShard") {
        this.#active += set.created.length;
        this.#shardsMade += set.created.length;
        if (set.kind === "SplitShard") this.#splits++;
      }
      if (set.kind === "UpdateShard" && set.shard.before.status === "Active" && set.shard.after.status === "Done") {
        this.#active--;
        this.#completionMs = this.#time.nowMs;
      }
    }
  }
}
