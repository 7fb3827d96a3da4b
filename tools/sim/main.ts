// `pnpm sim --seeds 1000 --fault radioactive`: runs the simulator, and fails where a rule was broken or work was left undone.
import { writeFileSync } from "node:fs";
import { simulate } from "../../packages/coordination/src/testing/sim/simulation.ts";
import type { SimReport } from "../../packages/coordination/src/testing/sim/sim-report.ts";
import { parseSimArgs, USAGE, type SimArgs } from "./args.ts";
import { describeFailure, describeRuns } from "./print.ts";
import { StateCoverage } from "./state-coverage.ts";

function readArgs(): SimArgs {
  try {
    return parseSimArgs(process.argv.slice(2));
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { runs, printsTrace, coverageFile } = readArgs();
const coverage = new StateCoverage();
const startedMs = performance.now();
const reports: SimReport[] = [];
for (const options of runs) {
  const report = await simulate(coverageFile === undefined ? options : { ...options, wrapStore: coverage.watch });
  reports.push(report);
  if (printsTrace) console.log(report.trace.join("\n"));
  if (report.violations.length > 0) console.error(await describeFailure(options, report));
}
if (coverageFile !== undefined) {
  const ops = reports.reduce((sum, report) => sum + report.opsExecuted, 0);
  writeFileSync(coverageFile, JSON.stringify({ seeds: reports.length, ops, ...coverage.met }));
}
const isCutDown = runs[0]?.steps !== undefined;
console.log(describeRuns(reports, { elapsedMs: performance.now() - startedMs, isCutDown }));
const failed = reports.filter((report) => report.violations.length > 0 || (!isCutDown && !report.converged));
process.exit(failed.length > 0 ? 1 : 0);
