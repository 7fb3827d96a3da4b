// `run-file.ts BENCH OUT [--smoke]`: loads one bench file and runs its comparisons, in this process alone.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { comparisons } from "./comparison.ts";
import { figures } from "./figure.ts";
import { judge } from "./judge.ts";
import { measure, smoke } from "./measure.ts";
import { print, printFigure, store, type BenchResult, type StoredComparison } from "./report.ts";
import type { StoredFigure } from "./figure.ts";

const [file, out, mode] = process.argv.slice(2);
await import(pathToFileURL(file!).href);

const stored: StoredComparison[] = [];
for (const comparison of comparisons()) {
  await comparison.before?.();
  try {
    if (mode === "--smoke") {
      await smoke(comparison);
    } else {
      const results = await measure(comparison);
      const row = store(comparison.name, results, judge(comparison, results));
      print(row);
      stored.push(row);
    }
  } finally {
    await comparison.after?.();
  }
}
const made: StoredFigure[] = [];
for (const { name, make } of figures()) {
  const row = { name, ...(await make({ isSmoke: mode === "--smoke" })) };
  printFigure(row);
  made.push(row);
}
if (comparisons().length + figures().length === 0) throw new Error(`${file} compares nothing`);
const result: BenchResult = { comparisons: stored, figures: made };
if (mode !== "--smoke") writeFileSync(out!, JSON.stringify(result, undefined, 1));
const isMissed = [...stored, ...(mode === "--smoke" ? [] : made)].some(({ verdicts }) =>
  verdicts.some((verdict) => verdict.isMissed),
);
process.exit(isMissed ? 3 : 0);
