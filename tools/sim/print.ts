// What `pnpm sim` says.
import { formatViolation } from "../../packages/coordination/src/testing/sim/invariants/violation.ts";
import { reproduceLine, shrink } from "../../packages/coordination/src/testing/sim/shrink.ts";
import type { SimOptions } from "../../packages/coordination/src/testing/sim/sim-options.ts";
import { coverageOf, type SimReport } from "../../packages/coordination/src/testing/sim/sim-report.ts";

/** A failing run, cut short, and the line that runs it again. */
export async function describeFailure(options: SimOptions, failed: SimReport): Promise<string> {
  const shortest = await shrink(options, failed);
  return [
    `seed ${failed.seed} at level ${failed.level} broke a rule after ${failed.stepsTaken.length} steps:`,
    ...failed.violations.map((violation) => `  ${formatViolation(violation)}`),
    `cut down to ${shortest.stepsTaken.length} steps:`,
    ...shortest.trace.map((line) => `  ${line}`),
    ...shortest.violations.map((violation) => `  ${formatViolation(violation)}`),
    "again:",
    `  ${reproduceLine(options, shortest.stepsTaken)}`,
  ].join("\n");
}

/** What all runs came to between them. Runs that were cut down need not have come to an end. */
export function describeRuns(
  reports: readonly SimReport[],
  { elapsedMs, isCutDown }: { readonly elapsedMs: number; readonly isCutDown: boolean },
): string {
  const ops = reports.reduce((sum, report) => sum + report.opsExecuted, 0);
  const { events, rejections, faults } = coverageOf(reports);
  const broken = reports.reduce((sum, report) => sum + report.violations.length, 0);
  const unbroken = reports.filter((report) => report.violations.length === 0);
  const stuck = isCutDown ? [] : unbroken.filter((report) => !report.converged);
  return [
    `${reports.length} seeds, ${ops} operations, ${Math.round((ops * 1000) / elapsedMs)} operations per second`,
    `events       ${coverageLine(events)}`,
    `rejections   ${coverageLine(rejections)}`,
    `faults       ${coverageLine(faults)}`,
    `violations   ${broken}`,
    `converged    ${unbroken.filter((report) => report.converged).length} of ${reports.length}`,
    ...stuck.map(
      (report) =>
        `  seed ${report.seed} at level ${report.level} left ${report.nonTerminalCount} shards open: ${reproduceLine(report)}`,
    ),
  ].join("\n");
}

function coverageLine(counts: ReadonlyMap<string, number>): string {
  const met = [...counts].filter(([, count]) => count > 0);
  const missed = [...counts].filter(([, count]) => count === 0).map(([kind]) => kind);
  const list = met.map(([kind, count]) => `${kind} ${count}`).join(", ");
  return `${met.length} of ${counts.size} kinds: ${list}${missed.length === 0 ? "" : `; never: ${missed.join(", ")}`}`;
}
