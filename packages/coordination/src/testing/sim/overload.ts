import { assert, assertCount } from "@gossip/stdx";
import { chooseOp } from "./choose-op.ts";
import { FAULTS } from "./fault-level.ts";
import { Random } from "./random.ts";
import type { SimOp } from "./sim-op.ts";
import { STREAMS, type SimOptions } from "./sim-options.ts";
import type { SimReport } from "./sim-report.ts";
import { Simulation } from "./simulation.ts";
import { LIVENESS_WEIGHTS } from "./weights.ts";

/**
 * The kinds of overload.
 *
 * - `BurstClaim`   — every worker claims, round after round.
 * - `CapacityDrop` — half of the workers stop, and every lease expires.
 * - `BurstShards`  — every shard that is held is split.
 */
export type OverloadKind = "BurstClaim" | "CapacityDrop" | "BurstShards";

export const OVERLOAD_KINDS: readonly OverloadKind[] = ["BurstClaim", "CapacityDrop", "BurstShards"];

export interface OverloadOptions extends SimOptions {
  readonly kind: OverloadKind;
  readonly warmUpSteps: number;
  readonly rounds: number;
  readonly recoverySteps: number;
}

export interface OverloadReport extends SimReport {
  readonly kind: OverloadKind;
  /** Shards completed in recovery, for each operation of the overload. */
  readonly overloadGoodput: number;
  /** L1: whether any shard was completed after the overload. */
  readonly anyCompleted: boolean;
}

const CAPACITY_DROP_TICKS = 200;
const CLAIM_INTERVAL = 10;

/** Warms up, overloads, and checks that work continues afterwards. */
export async function simulateOverload(options: OverloadOptions): Promise<OverloadReport> {
  const simulation = new Simulation(options);
  const { kind, warmUpSteps, rounds, recoverySteps } = options;
  assert(OVERLOAD_KINDS.includes(kind), `kind of overload must be one of ${OVERLOAD_KINDS.join(", ")}`);
  for (const count of [warmUpSteps, rounds, recoverySteps])
    assertCount(count, "steps of an overload", { min: 0, max: 1_000_000 });
  const overload = new Overload(simulation, options);
  await simulation.setUp();
  await overload.warmUp();
  const scriptedOps = await overload.burst();
  await simulation.heal();
  const completed = await overload.recover();
  const report = await simulation.finish();
  return {
    ...report,
    kind: options.kind,
    overloadGoodput: completed / Math.max(1, scriptedOps),
    anyCompleted: completed > 0,
  };
}

class Overload {
  readonly #simulation: Simulation;
  readonly #options: OverloadOptions;
  #stepCount = 0;

  constructor(simulation: Simulation, options: OverloadOptions) {
    this.#simulation = simulation;
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    for (let step = 0; step < this.#options.warmUpSteps; step++) await this.#rollLivenessOp();
  }

  /** Returns the number of operations. */
  async burst(): Promise<number> {
    const before = this.#stepCount;
    for (let round = 0; round < this.#options.rounds; round++) {
      const { kind } = this.#options;
      if (kind === "BurstClaim") await this.#everybodyClaims();
      else if (kind === "CapacityDrop") await this.#halfStop();
      else await this.#everythingIsSplit();
    }
    return this.#stepCount - before;
  }

  /** Continues without faults and counts the shards that are completed. */
  async recover(): Promise<number> {
    const { world } = this.#simulation;
    const completedBefore = this.#completedCount();
    for (let step = 0; step < this.#options.recoverySteps && world.openShards().length > 0; step++) {
      if (step % CLAIM_INTERVAL === 0) await this.#claim(step % world.workers.length);
      else await this.#rollLivenessOp();
    }
    return this.#completedCount() - completedBefore;
  }

  #completedCount(): number {
    return this.#simulation.world.shards(({ status }) => status === "Done").length;
  }

  async #everybodyClaims(): Promise<void> {
    for (const worker of this.#simulation.world.workers.keys()) await this.#claim(worker);
  }

  async #halfStop(): Promise<void> {
    const { workers } = this.#simulation.world;
    for (let worker = 0; worker < Math.floor(workers.length / 2); worker++) {
      await this.#simulation.perform(this.#nextStep(), { kind: "PauseWorker", worker }, this.#random());
    }
    await this.#simulation.perform(
      this.#nextStep(),
      { kind: "AdvanceTime", ticks: CAPACITY_DROP_TICKS },
      this.#random(),
    );
    await this.#everybodyClaims();
  }

  async #everythingIsSplit(): Promise<void> {
    await this.#everybodyClaims();
    for (const [worker, { heldShards }] of this.#simulation.world.workers.entries()) {
      for (const { lease } of heldShards) {
        const { tenant, run, shard } = lease;
        await this.#perform({ kind: "SplitReplace", worker, shard: { tenant, run, shard } });
      }
    }
  }

  async #claim(worker: number): Promise<void> {
    const { runs } = this.#simulation.world;
    if (runs.length > 0) await this.#perform({ kind: "ClaimNext", worker, run: this.#random().pick(runs) });
  }

  async #rollLivenessOp(): Promise<void> {
    const { world } = this.#simulation;
    await this.#perform(chooseOp(world, this.#random(), { weights: LIVENESS_WEIGHTS, hasMischief: false }));
  }

  async #perform(op: SimOp): Promise<void> {
    const random = this.#random();
    await this.#simulation.perform(this.#nextStep(), op, random, FAULTS[this.#options.level]);
  }

  #nextStep(): string {
    return `overload ${this.#stepCount++}`;
  }

  /** The stream of the next step. */
  #random(): Random {
    return new Random(this.#options.seed, STREAMS.overload, this.#stepCount);
  }
}
