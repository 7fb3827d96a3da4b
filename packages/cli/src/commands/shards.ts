import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import { createLogUpdate } from "log-update";
import { ShardStatus, type LogicalTime } from "@gossip/contracts";
import type { RunRequest, ShardFilter } from "@gossip/coordination";
import { compareBytes, ok, type Result } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { showKey } from "../keys/key-text.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { formatCount, formatDuration } from "../output/number-words.ts";
import { maskCredentials } from "../output/mask-credentials.ts";
import { printableText } from "../output/printable.ts";
import { renderTable, type Column } from "../output/table.ts";
import { timeJson } from "../output/time-text.ts";
import { readShardRows, type ShardRow } from "../run/inspect/read-shards.ts";
import { findRun, formatShardId } from "../run/inspect/run-reference.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { stopSignal } from "../stop-signal.ts";
import { readCount, readIntervalMs } from "./number-options.ts";

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

const DEFAULT_WATCH_MS = 1000;

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
  const everyMs =
    flags.watch === undefined
      ? ok(undefined)
      : flags.watch === true
        ? ok(DEFAULT_WATCH_MS)
        : readIntervalMs("--watch", flags.watch);
  if (!everyMs.ok) return everyMs;
  return withStore(cli, flags, async (opened, tenant) => {
    const record = await findRun(opened, tenant, reference);
    if (!record.ok) return record;
    const request = { tenant, run: record.value.run };
    const read = async (): Promise<Result<{ readonly rows: ShardRow[]; readonly now: LogicalTime }, CliError>> => {
      const rows = await readShardRows(opened, request, filter.value);
      if (!rows.ok) return rows;
      const sorted = rows.value.toSorted(order);
      if (flags.reverse === true) sorted.reverse();
      return ok({ rows: sorted.slice(0, limit.value), now: await opened.clock.now() });
    };
    return everyMs.value === undefined
      ? once(cli, read)
      : watch(cli, { opened, request, read, everyMs: everyMs.value });
  });
}

type Read = () => Promise<Result<{ readonly rows: ShardRow[]; readonly now: LogicalTime }, CliError>>;

async function once(cli: Cli, read: Read): Promise<CommandResult> {
  const { console } = cli;
  const shown = await read();
  if (!shown.ok) return shown;
  if (console.isJson) for (const row of shown.value.rows) console.json(rowJson(row));
  else
    console.lines(
      renderTable(
        COLUMNS,
        shown.value.rows.map((row) => cellsOf(row, shown.value.now)),
        console.width,
      ),
    );
  return ok("Ok");
}

interface WatchOptions {
  readonly opened: OpenedStore;
  readonly request: RunRequest;
  readonly read: Read;
  readonly everyMs: number;
}

/** Until Ctrl-C. In a terminal in place; elsewhere one list after the other. */
async function watch(cli: Cli, { read, everyMs }: WatchOptions): Promise<CommandResult> {
  const { console } = cli;
  const stop = stopSignal(cli);
  const draw =
    console.canRedraw(console.stdout) && !console.isJson
      ? createLogUpdate(console.stdout as unknown as NodeJS.WritableStream)
      : undefined;
  try {
    while (!stop.signal.aborted) {
      if (draw === undefined) {
        const shown = await once(cli, read);
        if (!shown.ok) return shown;
      } else {
        const shown = await read();
        if (!shown.ok) return shown;
        const rows = shown.value.rows.map((row) => cellsOf(row, shown.value.now));
        const lines = renderTable(COLUMNS, rows, console.width).map(maskCredentials);
        const room = Math.max(2, (console.stdout.rows || 24) - 1);
        draw(
          lines.length <= room
            ? lines.join("\n")
            : [...lines.slice(0, room - 1), `… and ${formatCount(lines.length - room + 1)} more`].join("\n"),
        );
      }
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {});
    }
    return ok("Ok");
  } finally {
    draw?.done();
    stop.dispose();
  }
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

function cellsOf(row: ShardRow, now: LogicalTime): string[] {
  return [
    formatShardId(row.shard),
    row.parkReason === undefined ? row.status : `${row.status} (${row.parkReason})`,
    row.leaseDeadline === undefined ? "" : formatDuration(Number(row.leaseDeadline - now)),
    formatCount(row.totals.items),
    formatCount(row.totals.failed),
    String(row.acquireCount),
    showKey(row.keyRangeStart),
    showKey(row.lastKey),
    showKey(row.keyRangeEnd),
  ];
}

/** A shard for a program. */
export function rowJson({ leaseDeadline, totals, ...row }: ShardRow): object {
  return { ...row, ...totals, leaseDeadline: timeJson(leaseDeadline) };
}
