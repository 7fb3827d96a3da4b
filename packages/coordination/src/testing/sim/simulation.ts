import { RunId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { chooseOp } from "./choose-op.ts";
import { callerOf, executeOp } from "./execute-op.ts";
import { FAULTS, type FaultConfig, type FaultKind } from "./fault-level.ts";
import { drawConfig, drawManifest } from "./ops/run-ops.ts";
import { Random } from "./random.ts";
import { makeWeather } from "./sim-connection.ts";
import type { SimEvent } from "./sim-event.ts";
import type { SimOp } from "./sim-op.ts";
import { makeSimSettings, STREAMS, type SimOptions, type SimSettings } from "./sim-options.ts";
import { SimRecorder, type SimReport } from "./sim-report.ts";
import type { SimWorker } from "./sim-worker.ts";
import { SimWorld } from "./sim-world.ts";
import { LIVENESS_WEIGHTS, SAFETY_WEIGHTS, WARM_UP_WEIGHTS } from "./weights.ts";

const WARM_UP_STEPS = 5;
/** The number of steps between two checks of everything. */
const SWEEP_INTERVAL = 40;
const NOTHING = /* @__PURE__ */ Promise.resolve();

/** An operation in flight. */
interface Running {
  readonly step: string;
  readonly op: SimOp;
  readonly caller: SimWorker | undefined;
  readonly life: number | undefined;
  outcome: { readonly event: SimEvent } | { readonly thrown: unknown } | undefined;
  done: Promise<void>;
}

/**
 * One simulation: runs of several tenants on one store, workers that pause, crash and have skewed clocks, and
 * connections that lose and delay calls.
 *
 * Everything follows from the seed. After each step the contents of the store are checked against the rules; the first
 * step that breaks one is the last.
 */
export class Simulation {
  readonly settings: SimSettings;
  readonly world: SimWorld;
  readonly recorder: SimRecorder;
  #running: Running[] = [];
  readonly #stepsTaken: number[] = [];

  constructor(options: SimOptions) {
    this.settings = makeSimSettings(options);
    const {
      size,
      settle,
      claimCooldown,
      keptCooldown,
      maxShardsPerTenant,
      makeStore,
      wrapStore,
      isDirect,
      slabCapacity,
      connect,
    } = this.settings;
    const store = makeStore({ slabCapacity });
    this.recorder = new SimRecorder(this.settings.keepsTrace);
    const noteFault = (kind: FaultKind): void => this.recorder.noteFault(kind);
    this.world = new SimWorld({
      size,
      store,
      wrapStore,
      isDirect,
      settle,
      noteFault,
      claimCooldown,
      keptCooldown: keptCooldown ?? claimCooldown,
      maxShardsPerTenant,
      connect,
    });
  }

  /** The whole simulation: setup, a zombie, the steps with faults, the steps without. */
  async run(): Promise<SimReport> {
    await this.setUp();
    const { safetySteps, livenessSteps, steps } = this.settings;
    const total = safetySteps + livenessSteps;
    const taken = steps ?? Array.from({ length: total }, (_, index) => index);
    let isHealed = false;
    for (const step of taken) {
      if (this.isBroken) break;
      if (step >= safetySteps && !isHealed) {
        await this.heal();
        isHealed = true;
      }
      if (isHealed && this.world.openShards().length === 0) break;
      this.#stepsTaken.push(step);
      await this.#takeStep(step);
    }
    return this.finish();
  }

  get isBroken(): boolean {
    return this.world.violations.length > 0;
  }

  /** Creates the runs, and lets one worker take over a shard without the knowledge of its holder. */
  async setUp(): Promise<void> {
    const { size, seed, longPrefixPpm } = this.settings;
    const random = new Random(seed, STREAMS.setup, 1);
    const { operator, tenants, time } = this.world;
    const { coordinator } = operator.actor;
    time.advance(1);
    for (const tenant of tenants) {
      for (let index = 1; index <= size.runsPerTenant; index++) {
        const run = RunId.fromRaw(BigInt(index));
        unwrap(await coordinator.createRun({ tenant, run, config: drawConfig(random) }));
        time.advance(1);
        const shards = drawManifest(random, size.shardsPerRun, longPrefixPpm);
        unwrap(await coordinator.registerShards({ tenant, run, shards, opId: operator.actor.nextOpId() }));
      }
    }
    time.advance(random.between(1, 10));
    await this.#preamble();
  }

  async #preamble(): Promise<void> {
    const [shard] = this.world.openShards();
    if (this.world.workers.length < 2 || shard === undefined) return;
    const random = new Random(this.settings.seed, STREAMS.preamble);
    const { config } = this.world.mirror.run(shard.tenant, shard.run)!.run;
    const address = { tenant: shard.tenant, run: shard.run, shard: shard.shard };
    await this.perform("preamble", { kind: "Acquire", worker: 0, shard: address }, random);
    await this.perform("preamble", { kind: "AdvanceTime", ticks: Number(config.leaseDuration) + 1 }, random);
    await this.perform("preamble", { kind: "Acquire", worker: 1, shard: address }, random);
    const [lease] = this.world.staleLeases;
    await this.perform("preamble", { kind: "ZombieCheckpoint", worker: 0, lease }, random);
  }

  async #takeStep(step: number): Promise<void> {
    const { seed, safetySteps, level } = this.settings;
    const random = new Random(seed, STREAMS.step, step);
    const isSafety = step >= WARM_UP_STEPS && step < safetySteps;
    const faults = isSafety ? FAULTS[level] : FAULTS.SunnyDay;
    const weights = isSafety ? SAFETY_WEIGHTS : step < safetySteps ? WARM_UP_WEIGHTS : LIVENESS_WEIGHTS;
    const op = chooseOp(this.world, random, { weights, hasMischief: isSafety });
    this.#moveTime(op, random, faults);
    await this.perform(String(step), op, random, faults);
    if (step % SWEEP_INTERVAL === 0) await this.world.checker.sweepAll(this.world.now);
  }

  /** Before an operation, time may advance to the end of its lease, or jump. */
  #moveTime(op: SimOp, random: Random, faults: FaultConfig): void {
    const { world } = this;
    const lease =
      "shard" in op && "worker" in op && op.shard !== undefined ? world.mirror.shard(op.shard)?.lease : undefined;
    if (lease !== undefined && random.chance(faults.leaseExpiryPpm)) {
      const ticks = Number(lease.deadline - world.now) - random.below(2);
      this.#jump("LeaseExpiry", Math.max(0, ticks));
    }
    if (random.chance(faults.timeJumpPpm)) this.#jump("TimeJump", random.between(...faults.timeJumpTicks));
  }

  #jump(kind: "LeaseExpiry" | "TimeJump", ticks: number): void {
    this.recorder.noteFault(kind);
    this.world.time.advance(ticks);
  }

  /** Starts an operation, lets every actor continue as far as it can, and checks the store. */
  async perform(step: string, op: SimOp, random: Random, faults: FaultConfig = FAULTS.SunnyDay): Promise<void> {
    await this.world.scheduler.nextStep();
    this.#collect();
    const caller = callerOf(this.world, op);
    if (caller?.isBusy === true) {
      this.recorder.record(step, op, { kind: "Skipped" });
    } else {
      const running = this.#begin({ step, op, caller }, random, faults);
      await (this.settings.connect === undefined ? this.world.scheduler.settle() : running.done);
      this.#collect();
      if (running.outcome === undefined) this.recorder.record(step, op, { kind: "UnderWay" });
    }
    await this.world.checker.sweepChanged(this.world.now);
  }

  #begin({ step, op, caller }: Pick<Running, "step" | "op" | "caller">, random: Random, faults: FaultConfig): Running {
    const running: Running = { step, op, caller, life: caller?.lives, outcome: undefined, done: NOTHING };
    if (caller !== undefined) {
      caller.isBusy = true;
      caller.actor.connection.begin(makeWeather(random, faults));
    }
    this.#running.push(running);
    running.done = executeOp({ world: this.world, random }, op, faults).then(
      (event) => void (running.outcome = { event }),
      (thrown: unknown) => void (running.outcome = { thrown }),
    );
    return running;
  }

  /** Records the operations that have ended, and those that never will because their actor crashed. */
  #collect(): void {
    const left: Running[] = [];
    for (const running of this.#running) {
      const { step, op, caller, life, outcome } = running;
      if (caller !== undefined && caller.lives !== life) {
        this.recorder.record(step, op, { kind: "Abandoned" });
        continue;
      }
      if (outcome === undefined) {
        left.push(running);
        continue;
      }
      if (caller !== undefined) {
        caller.isBusy = false;
        caller.actor.connection.begin(undefined);
      }
      if ("event" in outcome) this.recorder.record(step, op, outcome.event);
      else this.world.report({ kind: "Thrown", message: messageOf(outcome.thrown) });
    }
    this.#running = left;
  }

  /** No more faults: calls in flight finish, every actor wakes up, and every clock is right. */
  async heal(): Promise<void> {
    for (const { caller } of this.#running) caller?.actor.connection.begin(undefined);
    await this.world.scheduler.drain();
    this.#collect();
    for (const worker of this.world.workers) {
      worker.pausedUntilStep = 0;
      worker.actor.clock.skewTicks = 0;
    }
    await this.world.checker.sweepChanged(this.world.now);
  }

  async finish(): Promise<SimReport> {
    const { world, recorder, settings } = this;
    await this.heal();
    if (!this.isBroken) await world.checker.sweepAll(world.now);
    const open = world.openShards().length;
    const { eventCounts, rejectionCounts, faultCounts, opsExecuted, traceHash, trace } = recorder;
    return {
      seed: settings.seed,
      level: settings.level,
      opsExecuted,
      violations: world.violations,
      eventCounts,
      rejectionCounts,
      faultCounts,
      endTime: world.time.now,
      converged: open === 0,
      nonTerminalCount: open,
      capacitySamples: world.capacitySamples,
      traceHash,
      stepsTaken: this.#stepsTaken,
      trace,
    };
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Run one simulation from its seed to its report. */
export function simulate(options: SimOptions): Promise<SimReport> {
  return new Simulation(options).run();
}
