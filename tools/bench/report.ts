// How a comparison is printed and stored.
import type { StoredFigure } from "./figure.ts";
import { ratioSpread, wordFor, type Verdict } from "./judge.ts";
import type { FormResult } from "./measure.ts";

/** One row of the stored results: what a reader of docs/performance.md needs, without the raw samples. */
export interface StoredComparison {
  readonly name: string;
  readonly forms: readonly {
    readonly name: string;
    readonly ns: number;
    readonly ratio: number;
    readonly ratioLow: number;
    readonly ratioHigh: number;
    readonly heapBytes: number | null;
  }[];
  readonly verdicts: readonly Verdict[];
}

/** What one bench file gave. */
export interface BenchResult {
  readonly comparisons: readonly StoredComparison[];
  readonly figures: readonly StoredFigure[];
}

/** The first form is ours; every ratio is that form's cost over ours. */
export function store(name: string, results: readonly FormResult[], verdicts: readonly Verdict[]): StoredComparison {
  const ours = results[0]!;
  return {
    name,
    forms: results.map((result) => {
      const ratio = ratioSpread(result, ours);
      return {
        name: result.name,
        ns: precise(result.ns.median),
        ratio: precise(ratio.median),
        ratioLow: precise(ratio.low),
        ratioHigh: precise(ratio.high),
        heapBytes: result.heapBytes === undefined ? null : Math.round(result.heapBytes),
      };
    }),
    verdicts,
  };
}

export function print(stored: StoredComparison): void {
  console.log(`\n${stored.name}`);
  const width = Math.max(...stored.forms.map((form) => form.name.length));
  for (const form of stored.forms) {
    const ratio = `${form.ratio.toFixed(2)}x (${form.ratioLow.toFixed(2)} to ${form.ratioHigh.toFixed(2)})`;
    const heap = form.heapBytes === null ? "heap -" : `heap ${form.heapBytes} B`;
    console.log(`  ${form.name.padEnd(width)}  ${ratio.padEnd(26)} ${formatNs(form.ns).padStart(10)}  ${heap}`);
  }
  for (const verdict of stored.verdicts)
    console.log(`  ${wordFor(verdict).toUpperCase().padEnd(7)} ${verdict.sentence}`);
}

export function printFigure({ name, columns, rows, verdicts }: StoredFigure): void {
  console.log(`\n${name}`);
  const table = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table) console.log(`  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`);
  for (const verdict of verdicts) console.log(`  ${wordFor(verdict).toUpperCase().padEnd(7)} ${verdict.sentence}`);
}

function formatNs(ns: number): string {
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`;
  if (ns >= 1e3) return `${(ns / 1e3).toFixed(2)} us`;
  return `${ns.toFixed(1)} ns`;
}

function precise(value: number): number {
  return Number(value.toPrecision(4));
}
