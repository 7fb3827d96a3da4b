// What a round of exploration runs: each task is one command, played from one seed.
import { exploringFiles } from "./test-files.ts";

export interface Task {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether vitest runs it, and leaves in its report which files failed. */
  readonly isTest: boolean;
  /** The test files that it runs. */
  readonly files: readonly string[];
  /** The first seed, unless no seed changes the task. */
  readonly seed?: number;
  /** How many seeds the simulator plays. */
  readonly seedCount?: number;
}

const SIM_SEEDS = 300;

/** The model explorer: it walks every interleaving of small worlds, so no seed changes it. */
const EXPLORER = "packages/coordination/src/testing/explore/explore.test.ts";

/** The tasks of one round besides the simulator: the quick ones first, then one for each long run. */
export function tasksOf(seed: number): readonly Task[] {
  const { soaks, properties } = exploringFiles();
  return [runTests("properties", properties, seed), ...soaks.map((file) => runTests(file, [file], seed))];
}

/** Tasks that no seed changes: they run in the first round alone. */
export function fixedTasks(): readonly Task[] {
  const { seed: _none, ...explorer } = runTests("model explorer", [EXPLORER], 0);
  return [
    { ...explorer, env: { GOSSIP_EXPLORE: "1" } },
    tool("planted bugs", ["tools/planted/main.ts"]),
    tool("planted bugs of stores and workers", ["tools/planted/packages/main.ts"]),
    tool("mutations", ["tools/mutate/main.ts"]),
  ];
}

export function simulate(
  seed: number,
  { seeds = SIM_SEEDS, fault }: { readonly seeds?: number; readonly fault?: string | undefined } = {},
): Task {
  const args = ["--conditions=@gossip/source", "tools/sim/main.ts", "--seeds", String(seeds), "--seed", String(seed)];
  const task = tool("simulator", fault === undefined ? args : [...args, "--fault", fault]);
  return { ...task, seed, seedCount: seeds };
}

function tool(name: string, args: readonly string[]): Task {
  return {
    name,
    command: process.execPath,
    args: ["--import", "./tools/ts/register.mjs", ...args],
    env: {},
    isTest: false,
    files: [],
  };
}

export function runTests(name: string, files: readonly string[], seed: number): Task {
  return {
    name,
    command: "vitest",
    args: ["run", "--reporter=dot", "--reporter=./tools/check/reporter.ts", ...files],
    env: { GOSSIP_EXPLORE: "1", FC_SEED: String(seed), GOSSIP_CHAOS_SEED: String(seed) },
    isTest: true,
    files,
    seed,
  };
}

/** The command that runs a failed task again; of tests, only the files that failed. */
export function replayLine({ command, args, env, isTest, files }: Task, failedFiles: readonly string[]): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  if (isTest) return [...settings, "npx vitest run", ...(failedFiles.length > 0 ? failedFiles : files)].join(" ");
  return [...settings, command === process.execPath ? "node" : command, ...args].join(" ");
}
