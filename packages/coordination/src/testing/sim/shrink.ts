import type { SimOptions } from "./sim-options.ts";
import type { SimReport } from "./sim-report.ts";
import { simulate } from "./simulation.ts";

/** The maximum number of attempts to shorten a run. */
const MAX_TRIES = 400;

/**
 * Shortens a failing run: leaves out as many steps as possible while the same rule is still broken.
 *
 * Each step draws from its own stream, so the remaining steps do the same as before, as far as the state allows. Tries
 * halves first, then smaller parts, down to single steps.
 */
export async function shrink(options: SimOptions, failed: SimReport): Promise<SimReport> {
  const [first] = failed.violations;
  if (first === undefined) return failed;
  let shortest = failed;
  let tries = 0;
  for (let size = Math.ceil(failed.stepsTaken.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < shortest.stepsTaken.length;) {
      if (tries++ >= MAX_TRIES) return shortest;
      const steps = shortest.stepsTaken.toSpliced(start, size);
      const report = await simulate({ ...options, steps, keepsTrace: true });
      const isSame = report.violations.some(({ kind }) => kind === first.kind);
      // The next part now starts at the same index.
      if (isSame) shortest = report;
      else start += size;
    }
  }
  return shortest.trace.length > 0 ? shortest : simulate({ ...options, steps: shortest.stepsTaken, keepsTrace: true });
}

/** The command that reproduces a run. */
export function reproduceLine(
  { seed, level, safetySteps, livenessSteps, size }: SimOptions,
  steps?: readonly number[],
): string {
  const parts = [`pnpm sim --seed ${seed} --fault ${level.toLowerCase()}`];
  if (safetySteps !== undefined) parts.push(`--safety ${safetySteps}`);
  if (livenessSteps !== undefined) parts.push(`--liveness ${livenessSteps}`);
  for (const [name, value] of Object.entries(size ?? {}))
    parts.push(`--${FLAG_OF[name as keyof typeof FLAG_OF]} ${value}`);
  if (steps !== undefined) parts.push(`--steps ${formatSteps(steps)}`);
  return parts.join(" ");
}

const FLAG_OF = { workers: "workers", tenants: "tenants", runsPerTenant: "runs", shardsPerRun: "shards" } as const;

/** `0-3,7` for 0, 1, 2, 3 and 7. */
export function formatSteps(steps: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const step of steps) {
    const last = spans.at(-1);
    if (last !== undefined && step === last[1] + 1) last[1] = step;
    else spans.push([step, step]);
  }
  return spans.length === 0 ? "none" : spans.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}

/** Reads what `formatSteps` wrote; `undefined` if it is malformed. */
export function parseSteps(text: string): number[] | undefined {
  if (typeof text !== "string") return undefined;
  if (text === "none") return [];
  const steps: number[] = [];
  for (const span of text.split(",")) {
    const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(span);
    if (match === null) return undefined;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    if (to < from) return undefined;
    for (let step = from; step <= to; step++) steps.push(step);
  }
  return steps;
}
