import { assert, assertCount } from "@gossip/stdx";
import { MemoryStore } from "../../memory/memory-store.ts";
import type { CoordinationStore } from "../../store/coordination-store.ts";
import { FAULT_LEVELS, type FaultLevel } from "./fault-level.ts";
import { Random } from "./random.ts";
import type { SimConnect } from "./sim-actor.ts";
import { settleByTurns, type Settle } from "./sim-scheduler.ts";
import type { WorldSize } from "./sim-world.ts";

/** The streams of a seed, besides one for each step. */
export const STREAMS = { setup: 1, preamble: 2, step: 3, overload: 4 } as const;

export interface SimOptions {
  readonly seed: bigint;
  readonly level: FaultLevel;
  /** Steps with faults; 250 by default. */
  readonly safetySteps?: number;
  /** The maximum number of steps without faults, until every shard has ended; 2,500 by default. */
  readonly livenessSteps?: number;
  /** Drawn from the seed by default, like everything below. */
  readonly size?: Partial<WorldSize>;
  readonly claimCooldown?: bigint;
  /** Of the memory store, in bytes. */
  readonly slabCapacity?: number;
  readonly maxShardsPerTenant?: number;
  /** Takes only these steps, numbered from 0 through both phases. Used to shorten a failing run. */
  readonly steps?: readonly number[];
  /** Keeps a line for each operation. */
  readonly keepsTrace?: boolean;
  /** The store; one in memory by default. It must be synchronous, or a run cannot be reproduced. */
  readonly makeStore?: (options: { readonly slabCapacity: number }) => CoordinationStore;
  /** Wraps the store that coordinators use. The checks are below it. For planted bugs. */
  readonly wrapStore?: (store: CoordinationStore) => CoordinationStore;
  /** The cooldown that coordinators use, if it differs from the one that is checked. For planted bugs. */
  readonly keptCooldown?: bigint;
  readonly settle?: Settle;
  /** Makes operations go through something else, one at a time. Only at the level `SunnyDay`. */
  readonly connect?: SimConnect;
}

/** The same with defaults filled in. */
export interface SimSettings extends Required<Omit<SimOptions, "size" | "steps" | "keptCooldown" | "connect">> {
  readonly size: WorldSize;
  readonly steps: readonly number[] | undefined;
  readonly keptCooldown: bigint | undefined;
  readonly connect: SimConnect | undefined;
  /** Coordinators use the store directly. Only without faults. */
  readonly isDirect: boolean;
  /** How often, in a million, a run is created with keys of the maximum size. */
  readonly longPrefixPpm: number;
}

const TIGHT_SLAB = 1 << 15;
const WIDE_SLAB = 1 << 21;
/** The memory of a run's first shards at most, unless their keys have the maximum size. */
const SLAB_PER_SHARD = 512;

const MAX_STEPS = 1_000_000;
/** A run's first shards differ in one byte. */
const MAX_SHARDS_PER_RUN = 255;
const MAX_WORKERS = 64;

/** Fills in defaults. They are drawn from the seed, always in the same order. */
export function makeSimSettings(options: SimOptions): SimSettings {
  assert(
    typeof options === "object" && options !== null,
    () => `simulation options must be an object, got ${typeof options}`,
  );
  const { seed, level, safetySteps = 250, livenessSteps = 2500, keepsTrace = false } = options;
  assert(FAULT_LEVELS.includes(level), `fault level must be one of ${FAULT_LEVELS.join(", ")}`);
  assert(
    options.connect === undefined || level === "SunnyDay",
    "faults of the store need steps to pass, and a connection of its own waits for each operation",
  );
  assertCount(safetySteps, "safety steps", { min: 0, max: MAX_STEPS });
  assertCount(livenessSteps, "liveness steps", { min: 0, max: MAX_STEPS });
  assertSteps(options.steps, safetySteps + livenessSteps);
  const random = new Random(seed, STREAMS.setup);
  const size: WorldSize = {
    workers: random.between(1, 4),
    tenants: random.between(1, 3),
    runsPerTenant: random.between(1, 2),
    shardsPerRun: random.between(1, 4),
    ...options.size,
  };
  assertSize(size);
  const shardCount = size.tenants * size.runsPerTenant * size.shardsPerRun;
  const claimCooldown = random.pick([0n, 0n, 5n, 20n]);
  const slabCapacity =
    options.slabCapacity ?? random.pick([WIDE_SLAB, WIDE_SLAB, WIDE_SLAB, TIGHT_SLAB]) + SLAB_PER_SHARD * shardCount;
  const maxShardsPerTenant = random.pick([12, 24, 40]) + size.runsPerTenant * size.shardsPerRun;
  const isDirect = random.chance(500_000) && level === "SunnyDay";
  return {
    seed,
    level,
    isDirect,
    safetySteps,
    livenessSteps,
    size,
    claimCooldown: options.claimCooldown ?? claimCooldown,
    slabCapacity,
    maxShardsPerTenant: options.maxShardsPerTenant ?? maxShardsPerTenant,
    steps: options.steps,
    keepsTrace,
    makeStore: options.makeStore ?? ((store) => new MemoryStore(store)),
    wrapStore: options.wrapStore ?? ((store) => store),
    keptCooldown: options.keptCooldown,
    connect: options.connect,
    settle: options.settle ?? settleByTurns,
    longPrefixPpm: slabCapacity < WIDE_SLAB ? 0 : 50_000,
  };
}

function assertSize({ workers, tenants, runsPerTenant, shardsPerRun }: WorldSize): void {
  assertCount(workers, "number of workers", { min: 1, max: MAX_WORKERS });
  assertCount(tenants, "number of tenants", { min: 1, max: MAX_WORKERS });
  assertCount(runsPerTenant, "runs per tenant", { min: 1, max: MAX_WORKERS });
  assertCount(shardsPerRun, "shards per run", { min: 1, max: MAX_SHARDS_PER_RUN });
}

function assertSteps(steps: readonly number[] | undefined, total: number): void {
  if (steps === undefined) return;
  assert(Array.isArray(steps), "steps must be a list of numbers");
  for (const [index, step] of steps.entries()) {
    assertCount(step, "number of a step", { min: 0, max: total });
    assert(index === 0 || step > steps[index - 1]!, "steps must be in order, each once");
  }
}
