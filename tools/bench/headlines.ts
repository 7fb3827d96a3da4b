// The part of docs/performance.md for readers in a hurry: ten figures, what they mean, and how to get them again.
import { pictureOf, type StoredFigure } from "./figure.ts";
import type { PerformanceRecord } from "./record.ts";
import type { StoredComparison } from "./report.ts";

interface Headline {
  readonly title: string;
  readonly file: string;
  /** The comparison or figure of that file. */
  readonly name: string;
  readonly value: (found: {
    readonly form: (name: string) => Form;
    readonly figure: StoredFigure | undefined;
  }) => string;
  readonly meaning: string;
}

type Form = StoredComparison["forms"][number];

const ms = (ns: number): string => (ns >= 1e6 ? `${(ns / 1e6).toFixed(1)} ms` : `${Math.round(ns / 1e3)} µs`);
const perSecond = (ns: number): string => Math.round(1e9 / ns).toLocaleString("en");
const worst = ({ rows = [] }: Partial<StoredFigure> = {}, column = 1): string =>
  Math.max(...rows.map((row) => Number(row[column]))).toFixed(3);

/** The first cell of a figure's last row. */
const largest = ({ rows = [] }: Partial<StoredFigure> = {}): string => String(rows.at(-1)?.[0] ?? "?");
/** The greatest ratio in a figure's last row. */
const growth = ({ rows = [] }: Partial<StoredFigure> = {}): string => {
  const ratios = (rows.at(-1) ?? []).flatMap((cell) => /\((\d+\.\d+)x\)/u.exec(String(cell))?.[1] ?? []);
  return Math.max(...ratios.map(Number)).toFixed(2);
};

export const HEADLINES: readonly Headline[] = [
  {
    title: "A run finishes as early as its workers allow",
    file: "packages/worker/src/scale/completion-small.bench.ts",
    name: "Completion time, 64 workers",
    value: ({ figure }) => `at most ${worst(figure)} times the ideal in eight worlds`,
    meaning:
      "The ideal is all work divided by all speed. Skewed costs, one hot prefix, a slow worker, a death and late workers cost a few percent. Fixed shards take up to 64 times as long in the same worlds.",
  },
  {
    title: "A larger fleet is used as well as a small one",
    file: "packages/worker/src/scale/completion-512.bench.ts",
    name: "Completion time, 512 workers",
    value: ({ figure }) => `at most ${worst(figure)} times the ideal with 512 workers`,
    meaning:
      "Work that begins in one shard reaches every worker within seconds, and idle workers get a part of what is left.",
  },
  {
    title: "The number of items does not matter",
    file: "packages/worker/src/scale/completion-items.bench.ts",
    name: "Completion time by number of items, one prefix",
    value: ({ figure }) => `at most ${worst(figure)} times the ideal from 10,000 to 10,000,000 items`,
    meaning: "Splits follow the work that is left, and not the number of keys.",
  },
  {
    title: "Four workers on one folder",
    file: "packages/cli/src/bench/hot-prefix.bench.ts",
    name: "800 files of one folder, 25 ms of waiting each",
    value: ({ form }) => `${form("1 worker").ratio.toFixed(2)} times as fast as one`,
    meaning: "The real command on a real store, with the start of the process in the time.",
  },
  {
    title: "The runtime costs little per item",
    file: "packages/worker/src/runtime/run-workers.bench.ts",
    name: "items that answer at once",
    value: ({ form }) => `${Math.round(form("runWorkers").ns)} ns per item`,
    meaning:
      "Order checks, progress, checkpoints and renewals included. An item that takes a millisecond does not notice it.",
  },
  {
    title: "A durable checkpoint on the embedded store",
    file: "packages/coordination-lmdb/src/checkpoint.bench.ts",
    name: "lmdb: durable checkpoint, 64 sessions",
    value: ({ form }) => `${perSecond(form("ours").ns)} a second with 64 shards in work, ${ms(form("ours").ns)} each`,
    meaning:
      "Checkpoints of many shards share a commit. At one checkpoint per second and shard, one machine keeps tens of thousands of shards.",
  },
  {
    title: "A durable checkpoint on PostgreSQL",
    file: "packages/coordination-postgres/src/checkpoint.bench.ts",
    name: "postgres: durable checkpoint, 64 sessions",
    value: ({ form }) => `${perSecond(form("ours").ns)} a second from one process`,
    meaning:
      "The server ran on the same two cores. Divide by the checkpoint interval to get the shards that one server keeps.",
  },
  {
    title: "A durable checkpoint on etcd",
    file: "packages/coordination-etcd/src/checkpoint.bench.ts",
    name: "etcd: durable checkpoint, 64 sessions",
    value: ({ form }) => `${perSecond(form("ours").ns)} a second from one process`,
    meaning: "etcd is the slowest store. It suits fleets whose checkpoints are seconds apart.",
  },
  {
    title: "History does not slow a call",
    file: "packages/coordination-lmdb/src/growth.bench.ts",
    name: "Cost of a call by number of shards, LMDB",
    value: ({ figure }) => `at most ${growth(figure)} times the cost among ${largest(figure)} shards as among 1,000`,
    meaning:
      "Claims, checkpoints, completions, the status of a run, and pages of its shards. Finished shards leave every index that a claim reads, and the shards of each status are counted as they change.",
  },
  {
    title: "A fleet of 100,000 workers",
    file: "packages/worker/src/scale/fleet.bench.ts",
    name: "Store operations of a large fleet",
    value: ({ figure }) => `${String(figure?.rows.at(-1)?.[1] ?? "?")} store operations per worker and second`,
    meaning:
      "The same for 1,000 workers and for 100,000. Half of it is checkpoints every 10 s, the rest claims and completions of shards that take 30 s: longer intervals and larger shards cost a store less.",
  },
];

/** The section at the top of the page. Headlines whose bench was not recorded are left out. */
export function headlines(record: PerformanceRecord): string {
  const parts = HEADLINES.flatMap((headline) => {
    const file = record.files[headline.file];
    const comparison = file?.comparisons.find(({ name }) => name === headline.name);
    const figure = file?.figures?.find(({ name }) => name === headline.name);
    if (file === undefined || (comparison === undefined && figure === undefined)) return [];
    const form = (name: string): Form => comparison!.forms.find((each) => each.name === name)!;
    return [
      [
        `### ${headline.title}`,
        "",
        `**${capitalized(headline.value({ form, figure }))}.** ${headline.meaning}`,
        "",
        ...(figure?.chart === undefined ? [] : [`![${figure.name}](charts/${pictureOf(figure.name)})`, ""]),
        `${file.date}, \`pnpm bench ${shortName(headline.file)}\`.`,
        "",
      ].join("\n"),
    ];
  });
  return `## The figures that matter\n\n${parts.join("\n")}`;
}

/** What to pass to `pnpm bench` to run this file alone. */
export function shortName(file: string): string {
  return file.replace(/^packages\//, "").replace(/\.bench\.ts$/, "");
}

function capitalized(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
