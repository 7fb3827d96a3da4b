import { TIERS, type Rollups } from "./rollups.ts";

/** One value for each step, oldest first. `null` where nothing was recorded. */
export interface HistorySeries {
  readonly stepMs: number;
  /** When the first step begins. */
  readonly fromMs: number;
  readonly items: readonly (number | null)[];
  readonly failures: readonly (number | null)[];
  readonly workers: readonly (number | null)[];
}

/** The series of a tier, up to now and without empty steps at the beginning. */
export function historySeries(
  rollups: Rollups,
  { stepMs, nowMs }: { readonly stepMs: number; readonly nowMs: number },
): HistorySeries {
  const tier = TIERS.find((each) => each.stepMs === stepMs) ?? TIERS[0];
  const steps = rollups.steps(tier.stepMs);
  const last = Math.floor(nowMs / tier.stepMs);
  const known = [...steps.keys()].filter((index) => index <= last && index > last - tier.steps);
  const first = known.length === 0 ? last : Math.min(...known);
  const indexes = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const column = (field: "items" | "failures" | "workers"): (number | null)[] =>
    indexes.map((index) => steps.get(index)?.[field] ?? null);
  return {
    stepMs: tier.stepMs,
    fromMs: first * tier.stepMs,
    items: column("items"),
    failures: column("failures"),
    workers: column("workers"),
  };
}

/** Items per second of late, by the history. `undefined` if nothing was recorded of late. */
export function recentRate(rollups: Rollups, nowMs: number): number | undefined {
  const last = Math.floor(nowMs / 1000) - 1;
  let [items, seconds] = [0, 0];
  const steps = rollups.steps(1000);
  for (let index = last; index > last - RATE_SECONDS; index--) {
    const step = steps.get(index);
    if (step === undefined) continue;
    items += step.items;
    seconds++;
  }
  return seconds === 0 ? undefined : items / seconds;
}

const RATE_SECONDS = 20;
