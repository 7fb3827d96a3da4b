// `npm run explore [-- --minutes N]`: plays the simulator, the model explorer, every property and every long fault run from new
// seeds, round after round until the time is over. Prints how to replay each failure, and fails if there was one.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { COUNTS_FILE, type TestCounts } from "../check/reporter.ts";
import { ROOT } from "../layers/layers.ts";
import { parseMinutes, USAGE } from "./args.ts";
import { fixedTasks, replayLine, tasksOf, type Task } from "./tasks.ts";

const LARGEST_SEED = 2 ** 31 - 1;

const minutes = parseMinutes(process.argv.slice(2));
if (minutes === undefined) {
  console.error(USAGE);
  process.exit(2);
}
const endsAt = performance.now() + minutes * 60_000;
/** How to replay each task that failed. A task that failed once is not run again: its next failure is likely the same. */
const failures = new Map<string, string>();
let runCount = 0;
let round = 0;
while (performance.now() < endsAt) {
  const seed = randomInt(LARGEST_SEED);
  round++;
  console.log(`\n=== round ${round}, seed ${seed}`);
  for (const task of [...tasksOf(seed), ...(round === 1 ? fixedTasks() : [])]) {
    // What has begun is finished; nothing begins after the time is over.
    if (performance.now() >= endsAt) break;
    if (failures.has(task.name)) continue;
    runCount++;
    const replay = run(task);
    if (replay !== undefined) failures.set(task.name, replay);
  }
}

console.log(`\n${runCount} tasks in ${round} rounds, ${failures.size} failed`);
for (const [name, replay] of failures) console.log(`FAILED ${name}\n  replay: ${replay}`);
process.exit(failures.size > 0 ? 1 : 0);

/** Returns how to replay the task if it failed. */
function run(task: Task): string | undefined {
  console.log(`--- ${task.name}`);
  rmSync(COUNTS_FILE, { force: true });
  const { status, error } = spawnSync(task.command, task.args, {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...task.env },
  });
  if (error !== undefined) console.error(`${task.command} could not be started: ${error.message}`);
  if (status === 0) return undefined;
  const replay = replayLine(task, task.isTest ? failedFiles() : []);
  console.log(`FAILED ${task.name}\n  replay: ${replay}`);
  return replay;
}

function failedFiles(): readonly string[] {
  if (!existsSync(COUNTS_FILE)) return [];
  const { failed } = JSON.parse(readFileSync(COUNTS_FILE, "utf8")) as TestCounts;
  return [...new Set(failed.flatMap(({ file }) => file ?? []))];
}
