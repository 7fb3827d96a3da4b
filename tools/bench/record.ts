// Keeps the last recorded results beside the docs, and writes the page that shows them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { wordFor } from "./judge.ts";
import { pictureOf, type StoredFigure } from "./figure.ts";
import { headlines, shortName } from "./headlines.ts";
import type { BenchResult, StoredComparison } from "./report.ts";
import { sizing } from "./sizing.ts";
import { svgChart } from "./svg-chart.ts";

export interface PerformanceRecord {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly machine: string;
        readonly date: string;
        readonly comparisons: readonly StoredComparison[];
        readonly figures?: readonly StoredFigure[];
      }
    >
  >;
}

const RECORD = join(ROOT, "docs/performance.json");
const PAGE = join(ROOT, "docs/performance.md");
const CHARTS = join(ROOT, "docs/charts");

export function recordPerformance(results: ReadonlyMap<string, BenchResult>): void {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  const files = { ...readRecord().files };
  for (const [file, { comparisons, figures }] of results)
    files[file] = { machine, date, comparisons, ...(figures.length === 0 ? {} : { figures }) };
  const record: PerformanceRecord = {
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  writeFileSync(RECORD, `${JSON.stringify(record, undefined, 1)}\n`);
  writePages(record);
}

/** Write the page and its pictures from the record alone. */
export function writePages(record: PerformanceRecord): void {
  mkdirSync(CHARTS, { recursive: true });
  for (const [name, picture] of performancePictures(record)) writeFileSync(join(CHARTS, name), picture);
  writeFileSync(PAGE, performancePage(record));
}

/** The pictures by file name. */
export function performancePictures(record: PerformanceRecord): ReadonlyMap<string, string> {
  const all = Object.values(record.files).flatMap(({ figures = [] }) => figures);
  return new Map(
    all.flatMap(({ name, chart }) => (chart === undefined ? [] : [[pictureOf(name), svgChart(name, chart)]])),
  );
}

export function readRecord(): PerformanceRecord {
  return existsSync(RECORD) ? (JSON.parse(readFileSync(RECORD, "utf8")) as PerformanceRecord) : { files: {} };
}

/** The page, from the record alone: a test compares it with what is committed. */
export function performancePage(record: PerformanceRecord): string {
  const sections = Object.entries(record.files).map(([file, { machine, date, comparisons, figures = [] }]) => {
    const tables = [...figures.map(figureTable), ...comparisons.map(comparisonTable)].join("\n");
    return `### ${file}\n\n${date}, ${machine}. Again: \`pnpm bench ${shortName(file)}\`\n\n${tables}`;
  });
  return `${INTRODUCTION}\n${headlines(record)}\n${sizing(record)}\n${TABLES}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# Performance

The figures that decide whether a run finishes early and what it costs, then every table. The page is written by
\`pnpm bench --record\` from \`docs/performance.json\`; do not edit it.

All of it was measured on one small machine of two cores that other work shared. Simulated times do not depend on the
machine. For the others, read the ratios.
`;

const TABLES = `## All tables

Each comparison ran its forms in turns in one process. The first form is ours. The ratio is the cost of a row over ours:
below 1, that row is quicker. Heap is bytes allocated per call.
`;

function figureTable({ name, note, columns, rows, chart, verdicts }: StoredFigure): string {
  return [
    `#### ${name}`,
    "",
    note,
    "",
    ...(chart === undefined ? [] : [`![${name}](charts/${pictureOf(name)})`, ""]),
    `| ${columns.join(" | ")} |`,
    `| ${columns.map((_, index) => (index === 0 ? "---" : "---:")).join(" | ")} |`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
    "",
    ...verdicts.map(verdictLine),
    "",
  ].join("\n");
}

function comparisonTable(comparison: StoredComparison): string {
  const rows = comparison.forms.map(
    (form) =>
      `| ${form.name} | ${form.ratio.toFixed(2)} (${form.ratioLow.toFixed(2)} to ${form.ratioHigh.toFixed(2)}) | ${form.ns} | ${form.heapBytes ?? ""} |`,
  );
  const verdicts = comparison.verdicts.map(verdictLine);
  return [
    `#### ${comparison.name}`,
    "",
    "| form | ratio (quartiles) | ns | heap B |",
    "| --- | ---: | ---: | ---: |",
    ...rows,
    "",
    ...verdicts,
    "",
  ].join("\n");
}

function verdictLine(verdict: StoredComparison["verdicts"][number]): string {
  return `- ${wordFor(verdict) === "holds" ? "holds" : `**${wordFor(verdict)}**`}: ${verdict.sentence}`;
}
