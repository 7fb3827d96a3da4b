import type { Command } from "commander";
import { RunId } from "@gossip/contracts";
import type { RunRecord } from "@gossip/coordination";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { formatCount } from "../output/number-words.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { printableText } from "../output/printable.ts";
import { renderTable, type Column } from "../output/table.ts";
import { readSettings, type RunOverview } from "../run/inspect/run-overview.ts";
import { itemsText, sampleJson } from "../run/inspect/sample-text.ts";
import { readShownOverview } from "../run/inspect/sampled-overview.ts";
import { sharedJson } from "../run/inspect/shared-settings.ts";
import { listRuns } from "../run/inspect/run-reference.ts";
import { remainingFailures } from "../run/retry/retries.ts";
import { describeWork, type RunSettings } from "../run/start/run-settings.ts";

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "STATUS" },
  { title: "STARTED", mayGo: 1 },
  { title: "ENDED", mayGo: 3 },
  { title: "ITEMS", isNumber: true },
  { title: "FAILURES", isNumber: true },
  { title: "SHARDS", isNumber: true },
  { title: "PARKED", isNumber: true, mayGo: 2 },
  { title: "WHAT", mayShrink: true },
  { title: "OUT", mayShrink: true, mayGo: 4 },
];

interface Flags extends StoreFlags {
  readonly exact?: boolean;
}

interface Listed {
  readonly record: RunRecord;
  readonly overview: RunOverview;
  readonly settings: RunSettings | undefined;
  /** Items that failed or could not be read, and that no retry finished. */
  readonly failures: number;
}

/** `gossip runs`: the runs in a store. */
export function registerRuns(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "runs",
    summary: "List the runs of a store, newest first",
    details:
      "ITEMS are finished, also if they failed. FAILURES are items that failed or could not be read, and that no retry finished. SHARDS are finished shards of all shards. The items of a run with more than 10,000 shards are estimated from a sample of them; --exact reads them all. A narrow terminal has fewer columns; --json has all.",
    examples: ["gossip runs", "gossip runs --store postgres://db.internal/gossip --json"],
  })
    .option("--exact", "read every shard of very large runs, instead of a sample")
    .action(acting(cli, (flags: Flags) => runs(cli, flags)));
}

function runs(cli: Cli, flags: Flags): Promise<CommandResult> {
  return withStore(cli, flags, async (opened, tenant) => {
    const records = await listRuns(opened, tenant);
    if (!records.ok) return records;
    const listed: Listed[] = [];
    for (const record of records.value) {
      const request = { tenant, run: record.run };
      const overview = await readShownOverview(opened, request, { isExact: flags.exact });
      if (!overview.ok) return overview;
      const settings = await readSettings(opened, record);
      if (!settings.ok) return settings;
      const failures = await remainingFailures(opened, request, overview.value);
      if (!failures.ok) return failures;
      listed.push({ record, overview: overview.value, settings: settings.value, failures: failures.value });
    }
    show(
      cli,
      listed.toSorted((a, b) => Number(b.record.createdAt - a.record.createdAt)),
      opened.description,
    );
    return ok("Ok");
  });
}

function show({ console }: Cli, listed: readonly Listed[], where: string): void {
  if (console.isJson) {
    for (const run of listed) console.json(jsonOf(run));
    return;
  }
  if (listed.length === 0) return console.note(`${where} has no runs.`);
  console.lines(renderTable(COLUMNS, listed.map(cellsOf), console.width));
}

function cellsOf({ record, overview, settings, failures }: Listed): string[] {
  const { states, shared } = overview;
  const name = settings?.name === undefined ? "" : `${settings.name}: `;
  return [
    RunId.format(record.run),
    shared.paused ? "Paused" : record.status,
    formatTime(record.createdAt),
    record.completedAt === undefined ? "" : formatTime(record.completedAt),
    itemsText(overview),
    formatCount(failures),
    `${states.done}/${states.done + states.leased + states.waiting + states.parked}`,
    formatCount(states.parked),
    settings === undefined ? "" : printableText(`${name}${describeWork(settings)}`),
    printableText(settings?.out ?? ""),
  ];
}

function jsonOf({ record, overview, settings, failures }: Listed): object {
  const { states, totals, shared } = overview;
  return {
    run: record.run,
    status: record.status,
    ...sharedJson(shared),
    createdAt: timeJson(record.createdAt),
    completedAt: timeJson(record.completedAt),
    ...totals,
    ...sampleJson(overview),
    failures,
    shards: states,
    ...(settings === undefined
      ? {}
      : {
          name: settings.name,
          source: settings.source,
          exec: settings.exec,
          pipe: settings.pipe,
          module: settings.module,
          out: settings.out,
        }),
  };
}
