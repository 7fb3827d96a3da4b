// Runs the tests of all copies in one vitest, and says of each copy whether they passed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../layers/layers.ts";

/** What the tests of one copy said. A file that does not load has no tests. */
export interface CopyOutcome {
  readonly isFailed: boolean;
  readonly isLoaded: boolean;
  /** How many test files ran to their end. */
  readonly fileCount: number;
  /** How many tests passed or failed. */
  readonly ranCount: number;
  /** The first test that failed. */
  readonly failedTest: string | undefined;
}

/** One line of the report: one test file that ran to its end. */
interface FileReport {
  readonly file: string;
  readonly isPassed: boolean;
  readonly testCount: number;
  readonly ranCount: number;
  readonly failedTest?: string;
}

const REPORT = "report.ndjson";

/** An edit can make a loop endless. What has not been reported by then has not finished. */
const TIME_LIMIT_MS = 15 * 60_000;

export interface RunOptions {
  /** Whether each test file loads its modules anew. Needed where they keep something for the whole process. */
  readonly isolate?: boolean;
  /** Of a copy, by its folder, the tests to run: those with these words in their names. All, where it is not here. */
  readonly testNames?: Readonly<Record<string, readonly string[]>>;
}

const configOf = (isolate: boolean): string => `
const conditions = ["@gossip/source", "module", "node", "development|production"];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["*/packages/*/src/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    isolate: ${isolate},
    testTimeout: 60_000,
    setupFiles: ["./setup.mjs"],
    reporters: ["./reporter.mjs"],
  },
};
`;

// One failure is enough for a copy, its counterexample need not be small, and a second run must say the same.
const setupOf = (folder: string, testNames: object): string => `
import { relative } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach } from "vitest";
fc.configureGlobal({ seed: 20261116, endOnFailure: true });
let hasFailed = false;
const testNames = ${JSON.stringify(testNames)};
beforeEach((context) => {
  const words = testNames[relative(${JSON.stringify(folder)}, context.task.file.filepath).split("/")[0]];
  const isWanted = words === undefined || words.some((word) => context.task.name.includes(word));
  if (hasFailed || !isWanted) context.skip();
});
afterEach((context) => { hasFailed ||= context.task.result?.state === "fail"; });
`;

// A line as each file ends, so that a run that is cut short has still said what it knew.
const REPORTER = `
import { appendFileSync } from "node:fs";
export default class {
  onTestModuleEnd(module) {
    const tests = [...module.children.allTests()];
    const failedTest = tests.find((test) => test.result().state === "failed")?.fullName;
    const ranCount = tests.filter((test) => ["passed", "failed"].includes(test.result().state)).length;
    const line = { file: module.moduleId, isPassed: module.ok(), testCount: tests.length, ranCount, failedTest };
    appendFileSync(new URL("${REPORT}", import.meta.url), JSON.stringify(line) + "\\n");
  }
}
`;

/** By the name of the copy's folder. A copy that is missing did not finish. */
export function runCopies(
  folder: string,
  { isolate = false, testNames = {} }: RunOptions = {},
): Map<string, CopyOutcome> {
  writeFileSync(join(folder, "vitest.config.mjs"), configOf(isolate));
  writeFileSync(join(folder, "setup.mjs"), setupOf(folder, testNames));
  writeFileSync(join(folder, "reporter.mjs"), REPORTER);
  const run = spawnSync(process.execPath, [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--root", folder], {
    cwd: folder,
    encoding: "utf8",
    timeout: TIME_LIMIT_MS,
    killSignal: "SIGKILL",
    // The tool may itself run inside a test, and vitest must not take this for one of its workers.
    env: { ...process.env, VITEST: "", VITEST_WORKER_ID: "", VITEST_POOL_ID: "" },
  });
  const reportFile = join(folder, REPORT);
  if (!existsSync(reportFile)) throw new Error(`vitest ran no test:\n${run.stdout}\n${run.stderr}`);
  const reports = readFileSync(reportFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as FileReport);
  return mergeByCopy(folder, reports);
}

function mergeByCopy(folder: string, reports: readonly FileReport[]): Map<string, CopyOutcome> {
  const outcomes = new Map<string, CopyOutcome>();
  for (const { file, isPassed, testCount, ranCount, failedTest } of reports) {
    const copy = relative(folder, file).split("/")[0]!;
    const before = outcomes.get(copy);
    outcomes.set(copy, {
      isFailed: !isPassed || before?.isFailed === true,
      isLoaded: testCount > 0 && before?.isLoaded !== false,
      fileCount: (before?.fileCount ?? 0) + 1,
      ranCount: (before?.ranCount ?? 0) + ranCount,
      failedTest: before?.failedTest ?? failedTest,
    });
  }
  return outcomes;
}
