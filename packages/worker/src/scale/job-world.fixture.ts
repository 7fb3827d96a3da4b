// The worlds of the completion-time benchmark: what the items cost, where their keys are, and what happens to the workers.
import { seededFrom } from "./seeded.fixture.ts";

export const WORLDS = [
  "uniform",
  "Zipf costs",
  "one prefix",
  "one shard with 99 %",
  "one slow worker",
  "a worker dies at 90 %",
  "workers join at half time",
  "costs unknown until tried",
] as const;

export type WorldName = (typeof WORLDS)[number];

export interface WorkerPlan {
  /** Work per millisecond. */
  readonly speed: number;
  readonly joinsAtMs: number;
  readonly diesAtMs: number;
}

/** One job: its items in key order, and the workers that come and go. */
export interface JobWorld {
  readonly name: WorldName;
  readonly seed: number;
  /** Milliseconds of work per item at speed 1. */
  readonly costs: Float64Array;
  readonly keys: KeyLayout;
  readonly workers: readonly WorkerPlan[];
  /** All work divided by all speed, with the workers that are there at each moment. */
  readonly idealMs: number;
}

/**
 * Where the keys are. `Even`: spread over the planned key space. `OnePrefix`: below a common prefix, in one planned
 * shard. `OneRange`: all but 1 % of the items in the range of one planned shard.
 */
export type KeyLayout = "Even" | "OnePrefix" | "OneRange";

/** The most that one item may cost, as a part of the ideal time: dearer items would decide the result alone. */
const MAX_ITEM_SHARE = 0.009;

export function makeJobWorld({
  name,
  itemCount,
  workerCount,
  meanMs,
  seed,
}: {
  readonly name: WorldName;
  readonly itemCount: number;
  readonly workerCount: number;
  readonly meanMs: number;
  readonly seed: number;
}): JobWorld {
  const random = seededFrom(seed);
  const capMs = (MAX_ITEM_SHARE * itemCount * meanMs) / workerCount;
  const costs = makeCosts(name, { itemCount, meanMs, capMs, random });
  const totalMs = costs.reduce((sum, each) => sum + each, 0);
  return { name, seed, costs, keys: layoutOf(name), ...makeWorkers(name, { workerCount, totalMs }) };
}

function layoutOf(name: WorldName): KeyLayout {
  if (name === "one prefix") return "OnePrefix";
  return name === "one shard with 99 %" ? "OneRange" : "Even";
}

interface CostInput {
  readonly itemCount: number;
  readonly meanMs: number;
  readonly capMs: number;
  readonly random: () => number;
}

function makeCosts(name: WorldName, input: CostInput): Float64Array {
  if (name === "Zipf costs") return zipfCosts(input);
  if (name === "costs unknown until tried") return patchyCosts(input);
  return new Float64Array(input.itemCount).fill(input.meanMs);
}

/** The cost of the item of rank r is proportional to 1/r, up to the cap. Ranks are in random order. */
function zipfCosts({ itemCount, meanMs, capMs, random }: CostInput): Float64Array {
  const costs = new Float64Array(itemCount);
  for (let rank = 1; rank <= itemCount; rank++) costs[rank - 1] = 1 / rank;
  scaleToMean(costs, { meanMs, capMs });
  for (let index = itemCount - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [costs[index], costs[other]] = [costs[other]!, costs[index]!];
  }
  return costs;
}

/** Neighbors cost about the same, and each of some 40 patches of keys up to 100 times as much as another. */
function patchyCosts({ itemCount, meanMs, capMs, random }: CostInput): Float64Array {
  const costs = new Float64Array(itemCount);
  let level = 1;
  for (let index = 0; index < itemCount; index++) {
    if (index === 0 || random() < 40 / itemCount) level = 100 ** random();
    costs[index] = level * (0.5 + random());
  }
  scaleToMean(costs, { meanMs, capMs });
  return costs;
}

/** Scales to the mean, and cuts at the cap. What was cut goes to the others, so a few rounds are needed. */
function scaleToMean(
  costs: Float64Array,
  { meanMs, capMs }: { readonly meanMs: number; readonly capMs: number },
): void {
  for (let round = 0; round < 50; round++) {
    const factor = (meanMs * costs.length) / costs.reduce((sum, each) => sum + each, 0);
    if (Math.abs(factor - 1) < 1e-6) return;
    for (let index = 0; index < costs.length; index++) costs[index] = Math.min(capMs, costs[index]! * factor);
  }
}

const SLOW_SPEED = 0.1;

function makeWorkers(
  name: WorldName,
  { workerCount, totalMs }: { readonly workerCount: number; readonly totalMs: number },
): Pick<JobWorld, "workers" | "idealMs"> {
  const usual: WorkerPlan = { speed: 1, joinsAtMs: 0, diesAtMs: Infinity };
  const workers = Array.from({ length: workerCount }, () => usual);
  const evenMs = totalMs / workerCount;
  if (name === "one slow worker") {
    workers[0] = { ...usual, speed: SLOW_SPEED };
    return { workers, idealMs: totalMs / (workerCount - 1 + SLOW_SPEED) };
  }
  if (name === "a worker dies at 90 %") {
    const diesAtMs = 0.9 * evenMs;
    workers[0] = { ...usual, diesAtMs };
    return { workers, idealMs: diesAtMs + (totalMs - workerCount * diesAtMs) / (workerCount - 1) };
  }
  if (name === "workers join at half time") {
    const early = Math.ceil(workerCount / 2);
    // Half of the ideal time with the early workers, the other half with all of them.
    const joinsAtMs = totalMs / (early + workerCount);
    workers.fill({ ...usual, joinsAtMs }, early);
    return { workers, idealMs: 2 * joinsAtMs };
  }
  return { workers, idealMs: evenMs };
}
