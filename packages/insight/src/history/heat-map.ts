import { HEAT_KEYS } from "../sample/run-sampler.ts";
import { visitHeat } from "./heat-column.ts";
import { TIERS, type RollupStep, type Rollups } from "./rollups.ts";

export interface HeatQuery {
  /** Positions on the key axis. */
  readonly from: number;
  readonly to: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly keys: number;
  readonly columns: number;
}

export interface HeatMap {
  readonly keys: number;
  readonly columns: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** Column, key bucket and items per second of each cell with items, one after the other. */
  readonly cells: readonly number[];
  readonly max: number;
}

interface TimedStep {
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: RollupStep;
}

/** The items of a run by key and time. Each time is taken from the finest tier that still has it. */
export function heatMap(rollups: Rollups, query: HeatQuery): HeatMap {
  const columns = joinSteps(stepsBetween(rollups, query), query.columns);
  const cells: number[] = [];
  let max = 0;
  columns.forEach((steps, column) => {
    const sums = new Map<number, number>();
    for (const { step } of steps) addStep(sums, step, query);
    const seconds = steps.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs), 0) / 1000;
    for (const [key, items] of [...sums].toSorted(([a], [b]) => a - b)) {
      const rate = Math.round((1000 * items) / seconds) / 1000;
      if (rate === 0) continue;
      cells.push(column, key, rate);
      max = Math.max(max, rate);
    }
  });
  const times = columns.map((steps) => ({ fromMs: steps[0]!.fromMs, toMs: steps.at(-1)!.toMs }));
  return { keys: query.keys, columns: times, cells, max };
}

/** The steps in a time, oldest first, none overlapping another. */
function stepsBetween(rollups: Rollups, { fromMs, toMs }: HeatQuery): TimedStep[] {
  const found: TimedStep[] = [];
  let until = toMs;
  for (const { stepMs } of TIERS) {
    const steps = [...rollups.steps(stepMs)].toSorted(([a], [b]) => b - a);
    for (const [index, step] of steps) {
      const [stepFrom, stepTo] = [index * stepMs, (index + 1) * stepMs];
      // A coarser step that is partly covered by finer ones would count their items twice.
      if (stepTo > until + (stepMs === TIERS[0].stepMs ? stepMs : 0) || stepTo <= fromMs) continue;
      found.push({ fromMs: stepFrom, toMs: stepTo, step });
    }
    until = Math.min(until, ...found.map((step) => step.fromMs));
  }
  return found.toSorted((a, b) => a.fromMs - b.fromMs);
}

/** Join steps to at most `count` columns: the oldest the most, so that the newest stay fine. */
function joinSteps(steps: readonly TimedStep[], count: number): TimedStep[][] {
  let columns = steps.map((step) => [step]);
  while (columns.length > count) {
    // Halve the older part, as often as it takes.
    const older = Math.min(columns.length, 2 * (columns.length - count), Math.ceil(columns.length * 0.75));
    const joined: TimedStep[][] = [];
    for (let index = 0; index < older; index += 2)
      joined.push([...columns[index]!, ...(index + 1 < older ? columns[index + 1]! : [])]);
    columns = [...joined, ...columns.slice(older)];
  }
  return columns;
}

function addStep(sums: Map<number, number>, { heat }: RollupStep, { from, to, keys }: HeatQuery): void {
  visitHeat(heat, (first, count, items) => {
    const low = Math.max(from, first / HEAT_KEYS);
    const high = Math.min(to, (first + count) / HEAT_KEYS);
    if (high <= low) return;
    const share = (items * (high - low) * HEAT_KEYS) / count;
    const keyOf = (position: number): number => ((position - from) / (to - from)) * keys;
    const [start, end] = [keyOf(low), keyOf(high)];
    for (let key = Math.floor(start); key < Math.min(keys, Math.ceil(end - 1e-9)); key++) {
      const overlap = Math.min(end, key + 1) - Math.max(start, key);
      if (overlap > 0) sums.set(key, (sums.get(key) ?? 0) + (share * overlap) / (end - start));
    }
  });
}
