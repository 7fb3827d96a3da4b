// `npm test [-- STEP ...]`: runs the steps, then summarizes what ran, what was skipped and why.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { COUNTS_FILE, type TestCounts } from "./reporter.ts";
import { runSteps } from "./run-steps.ts";
import { STEPS } from "./steps.ts";
import { openTemporaryFolder } from "./temporary-folder.ts";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => STEPS.every((step) => step.name !== name));
if (unknown.length > 0) {
  console.error(
    `No step is called ${unknown.join(", ")}. The steps are: ${STEPS.map((step) => step.name).join(", ")}.`,
  );
  process.exit(2);
}

rmSync(COUNTS_FILE, { force: true });
const steps = STEPS.filter((step) => wanted.length === 0 || wanted.includes(step.name));
const temporary = openTemporaryFolder();
process.once("exit", temporary.remove);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const outcomes = await runSteps(steps, temporary.path === undefined ? {} : { TMPDIR: temporary.path });
const counts = readCounts();
const failedSteps = outcomes.filter((outcome) => !outcome.passed);

console.log("\nSummary");
for (const { step, passed, seconds } of outcomes)
  console.log(`  ${passed ? "passed" : "FAILED"}  ${step.name.padEnd(11)} ${seconds.padStart(6)} s  ${step.checks}`);
for (const step of STEPS.filter((candidate) => !steps.includes(candidate)))
  console.log(`  not run ${step.name.padEnd(11)}           not asked for`);
for (const [why, tests] of groupByReason(counts))
  console.log(`  skipped ${tests.length} tests: ${why}\n${tests.map((test) => `            ${test}`).join("\n")}`);

// The test step counts test by test; every other step counts as one.
const otherPassed = outcomes.filter((outcome) => outcome.passed && outcome.step.name !== "tests").length;
const otherFailed = failedSteps.filter((outcome) => outcome.step.name !== "tests" || counts.failed.length === 0).length;
console.log(`  ${counts.skipped.length} tests skipped\n`);
for (const { test, said } of counts.failed) console.log(`FAILED ${test}\n${said.replaceAll(/^/gm, "    ")}\n`);
console.log(`${counts.passed + otherPassed} passed, ${counts.failed.length + otherFailed} failed`);
process.exit(failedSteps.length > 0 ? 1 : 0);

function readCounts(): TestCounts {
  if (!existsSync(COUNTS_FILE)) return { passed: 0, failed: [], skipped: [] };
  return JSON.parse(readFileSync(COUNTS_FILE, "utf8")) as TestCounts;
}

function groupByReason({ skipped }: TestCounts): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { test, why } of skipped) groups.set(why, [...(groups.get(why) ?? []), test]);
  return groups;
}
