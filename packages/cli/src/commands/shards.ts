import type { Command } from "commander";
import { ShardStatus, WorkerId, type LogicalTime } from "@gossip/contracts";
import type { ShardFilter } from "@gossip/coordination";
import { compareBytes, ok, type Result } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { showEnd, showStart } from "../keys/show-bound.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { formatCount, formatDuration } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { renderTable, type Column } from "../output/table.ts";
import { timeJson } from "../output/time-text.ts";
import { openKeyShower, type ShowKey } from "../run/inspect/key-shower.ts";
import { readShardRows, type ShardRow } from "../run/inspect/read-shards.ts";
import { readWorkerNames } from "../run/inspect/read-notes.ts";
import { readSettings } from "../run/inspect/run-overview.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { withRun } from "./chosen-run.ts";
import { readCount } from "./number-options.ts";
import { readWatch, showScreen } from "./watch.ts";

interface Flags extends StoreFlags {
  readonly status?: string;
  readonly held?: boolean;
  readonly free?: boolean;
  readonly root?: boolean;
  readonly sort: string;
  readonly reverse?: boolean;
  readonly limit?: string;
  readonly watch?: string | true;
}

const COLUMNS: readonly Column[] = [
  { title: "SHARD" },
  { title: "STATUS" },
  { title: "HELD BY", mayShrink: true },
  { title: "HELD FOR" },
  { title: "ITEMS", isNumber: true },
  { title: "FAILED", isNumber: true },
  { title: "TAKEN", isNumber: true },
  { title: "FROM", mayShrink: true },
  { title: "AT", mayShrink: true },
  { title: "TO", mayShrink: true },
];

const ORDERS: Readonly<Record<string, (a: ShardRow, b: ShardRow) => number>> = {
  key: (a, b) => compareBytes(a.keyRangeStart, b.keyRangeStart),
  id: (a, b) => (a.shard < b.shard ? -1 : 1),
  status: (a, b) => a.status.localeCompare(b.status) || compareBytes(a.keyRangeStart, b.keyRangeStart),
  items: (a, b) => b.totals.items - a.totals.items,
  failed: (a, b) => b.totals.failed - a.totals.failed,
  taken: (a, b) => b.acquireCount - a.acquireCount,
  deadline: (a, b) => Number((a.leaseDeadline ?? 2n ** 64n) - (b.leaseDeadline ?? 2n ** 64n)),
};

/** `gossip shards`: the parts of a run. */
export function registerShards(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "shards [run]",
    summary: "List the shards of a run",
    details: "TAKEN is how often a shard was acquired. FROM and TO bound its keys. AT is the last finished key.",
    examples: [
      "gossip shards --status Parked",
      "gossip shards nightly --held --sort deadline --watch",
      "gossip shards --json | jq .shard",
    ],
  })
    .option("--status <status>", `only shards that are ${ShardStatus.values.join(", ")}`)
    .option("--held", "only shards that a worker holds")
    .option("--free", "only shards that no worker holds")
    .option("--root", "only the initial shards, not those that splits created")
    .option("--sort <order>", `by ${Object.keys(ORDERS).join(", ")}`, "key")
    .option("--reverse", "in reverse order")
    .option("--limit <count>", "show at most this many")
    .option("--watch [seconds]", "refresh the list until Ctrl-C")
    .action(acting(cli, (reference: string | undefined, flags: Flags) => run(cli, reference, flags)));
}

async function run(cli: Cli, reference: string | undefined, flags: Flags): Promise<CommandResult> {
  const filter = readFilter(flags);
  if (!filter.ok) return filter;
  const order = Object.hasOwn(ORDERS, flags.sort) ? ORDERS[flags.sort]! : undefined;
  if (order === undefined)
    return fail(
      "BadCommandLine",
      `--sort knows no "${printableText(flags.sort)}": write one of ${Object.keys(ORDERS).join(", ")}.`,
    );
  const limit = flags.limit === undefined ? ok(Infinity) : readCount("--limit", flags.limit);
  if (!limit.ok) return limit;
  const everyMs = readWatch(flags.watch);
  if (!everyMs.ok) return everyMs;
  return withRun(cli, flags, reference, async ({ opened, record, request }) => {
    const settings = await readSettings(opened, record);
    if (!settings.ok) return settings;
    const show = await openKeyShower(opened, request, settings.value?.source);
    return showScreen(cli, everyMs.value, async () => {
      const read = await readShardRows(opened, request, filter.value);
      if (!read.ok) return read;
      const sorted = read.value.toSorted(order);
      if (flags.reverse === true) sorted.reverse();
      const rows = sorted.slice(0, limit.value);
      const now = await opened.clock.now();
      const names = await readWorkerNames(opened, request);
      if (!names.ok) return names;
      const nameOf = ({ leaseOwner }: ShardRow): string | undefined =>
        leaseOwner === undefined ? undefined : (names.value.get(leaseOwner) ?? WorkerId.format(leaseOwner));
      const cells = rows.map((row) => cellsOf(row, { now, show, holder: nameOf(row) }));
      return ok({
        lines: renderTable(COLUMNS, cells, cli.console.width),
        json: rows.map((row) => ({ ...rowJson(row), holder: nameOf(row) })),
      });
    });
  });
}

function readFilter({ status, held, free, root }: Flags): Result<ShardFilter, CliError> {
  const found =
    status === undefined ? undefined : ShardStatus.values.find((name) => name.toLowerCase() === status.toLowerCase());
  if (status !== undefined && found === undefined)
    return fail("BadCommandLine", `no shard is ever "${status}": write one of ${ShardStatus.values.join(", ")}.`);
  if (held === true && free === true)
    return fail("BadCommandLine", "--held and --free leave nothing over: give one of them.");
  return ok({
    ...(found === undefined ? {} : { status: found }),
    ...(held === true || free === true ? { isLeased: held === true } : {}),
    ...(root === true ? { rootOnly: true } : {}),
  });
}

interface CellContext {
  readonly now: LogicalTime;
  readonly show: ShowKey;
  /** The name of the worker that holds the shard. */
  readonly holder: string | undefined;
}

function cellsOf(row: ShardRow, { now, show, holder }: CellContext): string[] {
  return [
    formatShardId(row.shard),
    row.parkReason === undefined ? row.status : `${row.status} (${row.parkReason})`,
    printableText(holder ?? ""),
    row.leaseDeadline === undefined ? "" : formatDuration(Number(row.leaseDeadline - now)),
    formatCount(row.totals.items),
    formatCount(row.totals.failed),
    String(row.acquireCount),
    showStart(row.keyRangeStart, show),
    show(row.lastKey),
    showEnd(row.keyRangeEnd, show),
  ];
}

/** A shard for a program. */
export function rowJson({ leaseDeadline, totals, ...row }: ShardRow): object {
  return { ...row, ...totals, leaseDeadline: timeJson(leaseDeadline) };
}
