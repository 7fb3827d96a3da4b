// `npm run explore [-- --minutes N]`: plays the simulator, the model explorer, every property and every long fault run from new
// seeds, in two lanes at the same time, until the time is over. Seeds that failed in the past come first. Prints how to replay
// each failure and which protocol states were met, and fails if anything failed.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestCounts } from "../check/reporter.ts";
import { ROOT } from "../layers/layers.ts";
import { parseMinutes, USAGE } from "./args.ts";
import { addToCorpus, corpusTasks, entryFor } from "./corpus.ts";
import { CoverageOverTime, type SimulatorCoverage } from "./coverage.ts";
import { fixedTasks, replayLine, simulate, tasksOf, type Task } from "./tasks.ts";

const LARGEST_SEED = 2 ** 31 - 1;
const FOLDER = join(ROOT, ".cache/explore");

const minutes = parseMinutes(process.argv.slice(2));
if (minutes === undefined) {
  console.error(USAGE);
  process.exit(2);
}
mkdirSync(FOLDER, { recursive: true });
const startedMs = performance.now();
const elapsedMinutes = (): number => (performance.now() - startedMs) / 60_000;
/** How to replay each task that failed. A task that failed once is not run again: its next failure is likely the same. */
const failures = new Map<string, string>();
const coverage = new CoverageOverTime();
let runCount = 0;

await Promise.all([play("simulator", simulatorTasks()), play("tests", testTasks())]);

console.log(`\n${runCount} tasks in ${elapsedMinutes().toFixed(1)} minutes, ${failures.size} failed`);
console.log(`Protocol states met by the simulator:\n${coverage.table()}`);
for (const [name, replay] of failures) console.log(`FAILED ${name}\n  replay: ${replay}`);
process.exit(failures.size > 0 ? 1 : 0);

/** Past failures first, then new seeds without end. */
function* simulatorTasks(): Generator<Task> {
  yield* corpusTasks().filter(({ isTest }) => !isTest);
  for (;;) yield simulate(randomInt(LARGEST_SEED));
}

/** Past failures, a round of everything, what no seed changes, and then more rounds. */
function* testTasks(): Generator<Task> {
  yield* corpusTasks().filter(({ isTest }) => isTest);
  yield* tasksOf(randomInt(LARGEST_SEED));
  yield* fixedTasks();
  for (;;) yield* tasksOf(randomInt(LARGEST_SEED));
}

/** Runs the tasks of a lane one after the other. What has begun is finished; nothing begins after the time is over. */
async function play(lane: string, tasks: Iterable<Task>): Promise<void> {
  for (const task of tasks) {
    if (elapsedMinutes() >= minutes!) return;
    if (failures.has(task.name)) {
      // A lane whose only task has failed has nothing else to do.
      if (task.name === "simulator") return;
      continue;
    }
    runCount++;
    const failed = await run(lane, task);
    if (failed === undefined) continue;
    failures.set(task.name, replayLine(task, failed));
    const entry = entryFor(task, failed, new Date().toISOString().slice(0, 10));
    if (entry !== undefined) addToCorpus(entry);
    console.log(`FAILED ${task.name}\n  replay: ${replayLine(task, failed)}`);
  }
}

/** Returns the files that failed, or `undefined` if nothing did. */
async function run(lane: string, task: Task): Promise<readonly string[] | undefined> {
  const counts = join(FOLDER, `${lane}.tests.json`);
  const met = join(FOLDER, `${lane}.states.json`);
  for (const file of [counts, met]) rmSync(file, { force: true });
  console.log(
    `--- ${task.name}${task.seed === undefined || task.name.startsWith("corpus") ? "" : `, seed ${task.seed}`}`,
  );
  const args = task.seedCount === undefined ? task.args : [...task.args, "--coverage", met];
  const status = await new Promise<number | null>((resolve) => {
    const env = { ...process.env, ...task.env, GOSSIP_COUNTS_FILE: counts };
    const child = spawn(task.command, args, { cwd: ROOT, stdio: "inherit", env });
    child.once("error", (error) => {
      console.error(`${task.command} could not be started: ${error.message}`);
      resolve(null);
    });
    child.once("close", resolve);
  });
  if (existsSync(met)) {
    coverage.add(elapsedMinutes(), JSON.parse(readFileSync(met, "utf8")) as SimulatorCoverage);
    console.log(coverage.latest);
  }
  if (status === 0) return undefined;
  return task.isTest ? failedFiles(counts) : [];
}

function failedFiles(counts: string): readonly string[] {
  if (!existsSync(counts)) return [];
  const { failed } = JSON.parse(readFileSync(counts, "utf8")) as TestCounts;
  return [...new Set(failed.flatMap(({ file }) => file ?? []))];
}
