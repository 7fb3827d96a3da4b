// Keeps the last recorded results beside the docs, and writes the page that shows them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { wordFor } from "./judge.ts";
import type { StoredComparison } from "./report.ts";

export interface PerformanceRecord {
  readonly files: Readonly<
    Record<
      string,
      { readonly machine: string; readonly date: string; readonly comparisons: readonly StoredComparison[] }
    >
  >;
}

const RECORD = join(ROOT, "docs/performance.json");
const PAGE = join(ROOT, "docs/performance.md");

export function recordPerformance(results: ReadonlyMap<string, readonly StoredComparison[]>): void {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  const files = { ...readRecord().files };
  for (const [file, comparisons] of results) files[file] = { machine, date, comparisons };
  const record: PerformanceRecord = {
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  writeFileSync(RECORD, `${JSON.stringify(record, undefined, 1)}\n`);
  writeFileSync(PAGE, performancePage(record));
}

export function readRecord(): PerformanceRecord {
  return existsSync(RECORD) ? (JSON.parse(readFileSync(RECORD, "utf8")) as PerformanceRecord) : { files: {} };
}

/** The page, from the record alone: a test compares it with what is committed. */
export function performancePage(record: PerformanceRecord): string {
  const sections = Object.entries(record.files).map(([file, { machine, date, comparisons }]) => {
    const tables = comparisons.map(comparisonTable).join("\n");
    return `## ${file}\n\n${date}, ${machine}. Again: \`pnpm bench ${file.replace(/^packages\//, "").replace(/\.bench\.ts$/, "")}\`\n\n${tables}`;
  });
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# Performance

Written by \`pnpm bench --record\` from \`docs/performance.json\`; do not edit.

The machine is small and shared, so read the ratios: each was taken between two forms that ran in turns in one process. The
first form of a table is ours, and the ratio is the cost of a row over ours (below 1 means that row is quicker). Heap is bytes allocated a call.
`;

function comparisonTable(comparison: StoredComparison): string {
  const rows = comparison.forms.map(
    (form) =>
      `| ${form.name} | ${form.ratio.toFixed(2)} (${form.ratioLow.toFixed(2)} to ${form.ratioHigh.toFixed(2)}) | ${form.ns} | ${form.heapBytes ?? ""} |`,
  );
  const verdicts = comparison.verdicts.map(
    (verdict) => `- ${wordFor(verdict) === "holds" ? "holds" : `**${wordFor(verdict)}**`}: ${verdict.sentence}`,
  );
  return [
    `### ${comparison.name}`,
    "",
    "| form | ratio (quartiles) | ns | heap B |",
    "| --- | ---: | ---: | ---: |",
    ...rows,
    "",
    ...verdicts,
    "",
  ].join("\n");
}
