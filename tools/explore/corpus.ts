// Seeds that found something in the past. Every exploration plays them first, and adds those that it finds.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { runTests, simulate, type Task } from "./tasks.ts";

export type CorpusEntry = {
  /** The day, as 2026-11-17. */
  readonly found: string;
  /** What failed, for people. */
  readonly what: string;
  readonly seed: number;
} & (
  | { readonly task: "simulator"; readonly fault?: string; readonly seeds?: number }
  | { readonly task: "test"; readonly files: readonly string[] }
);

const CORPUS = join(ROOT, "tools/explore/corpus.json");

export function readCorpus(): readonly CorpusEntry[] {
  return JSON.parse(readFileSync(CORPUS, "utf8")) as readonly CorpusEntry[];
}

/** The tasks that play the corpus: one for each entry. */
export function corpusTasks(corpus: readonly CorpusEntry[] = readCorpus()): readonly Task[] {
  return corpus.map((entry) => {
    const name = `corpus, seed ${entry.seed}`;
    if (entry.task === "test") return runTests(name, entry.files, entry.seed);
    const { seeds = 1, fault } = entry;
    return { ...simulate(entry.seed, { seeds, fault }), name };
  });
}

/** The entry for a task that failed, or `undefined` if no seed changes that task. */
export function entryFor(task: Task, failedFiles: readonly string[], found: string): CorpusEntry | undefined {
  const { seed } = task;
  if (seed === undefined || task.name.startsWith("corpus")) return undefined;
  const what = `${task.name} failed`;
  if (!task.isTest) return { found, what, task: "simulator", seed, seeds: task.seedCount ?? 1 };
  return { found, what, task: "test", seed, files: failedFiles.length > 0 ? failedFiles : task.files };
}

export function addToCorpus(entry: CorpusEntry): void {
  writeFileSync(CORPUS, `${JSON.stringify([...readCorpus(), entry], undefined, 2)}\n`);
}
