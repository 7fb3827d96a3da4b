// `run-file.ts BENCH OUT [--smoke]`: loads one bench file and runs its comparisons, in this process alone.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { comparisons } from "./comparison.ts";
import { judge } from "./judge.ts";
import { measure, smoke } from "./measure.ts";
import { print, store, type StoredComparison } from "./report.ts";

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
if (comparisons().length === 0) throw new Error(`${file} compares nothing`);
if (mode !== "--smoke") writeFileSync(out!, JSON.stringify(stored, undefined, 1));
process.exit(stored.some((row) => row.verdicts.some((verdict) => verdict.isMissed)) ? 3 : 0);
