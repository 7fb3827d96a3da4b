import type { Command } from "commander";
import { RunId } from "@gossip/contracts";
import type { RunProgress, RunRecord } from "@gossip/coordination";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type StoreFlags } from "../cli.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { printableText } from "../output/printable.ts";
import { renderTable, type Column } from "../output/table.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { readSettings } from "../run/inspect/run-overview.ts";
import { listRuns } from "../run/inspect/run-reference.ts";
import { describeWork, type RunSettings } from "../run/start/run-settings.ts";

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "STATUS" },
  { title: "CREATED" },
  { title: "DONE", isNumber: true },
  { title: "LEFT", isNumber: true },
  { title: "PARKED", isNumber: true },
  { title: "WHAT", mayShrink: true },
];

interface Listed {
  readonly record: RunRecord;
  readonly progress: RunProgress;
  readonly settings: RunSettings | undefined;
}

/** `gossip runs`: what a store holds. */
export function registerRuns(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "runs",
    summary: "List the runs of a store",
    examples: ["gossip runs", "gossip runs --store postgres://db.internal/gossip --json"],
  }).action(
    acting(cli, (flags: StoreFlags) =>
      withStore(cli, flags, async (opened, tenant) => {
        const runs = await listRuns(opened, tenant);
        if (!runs.ok) return runs;
        const listed: Listed[] = [];
        for (const record of runs.value) {
          const progress = await opened.coordinator.getRunProgress({ tenant, run: record.run });
          if (!progress.ok) return err(coordSentence(progress.error));
          const settings = await readSettings(opened, record);
          if (!settings.ok) return settings;
          listed.push({ record, progress: progress.value, settings: settings.value });
        }
        show(
          cli,
          listed.toSorted((a, b) => Number(b.record.createdAt - a.record.createdAt)),
          opened.description,
        );
        return ok("Ok");
      }),
    ),
  );
}

function show(cli: Cli, listed: readonly Listed[], where: string): void {
  const { console } = cli;
  if (console.isJson) {
    for (const run of listed) console.json(jsonOf(run));
    return;
  }
  if (listed.length === 0) return console.note(`${where} has no runs.`);
  const rows = listed.map(({ record, progress, settings }) => [
    RunId.format(record.run),
    record.status,
    formatTime(record.createdAt),
    String(progress.done),
    String(progress.active),
    String(progress.parked),
    printableText(
      settings === undefined
        ? ""
        : `${settings.name === undefined ? "" : `${settings.name}: `}${describeWork(settings)}`,
    ),
  ]);
  console.lines(renderTable(COLUMNS, rows, console.width));
}

function jsonOf({ record, progress, settings }: Listed): object {
  const { total, active, done, split, parked, leased } = progress;
  return {
    run: record.run,
    status: record.status,
    createdAt: timeJson(record.createdAt),
    completedAt: timeJson(record.completedAt),
    shards: { total, active, done, split, parked, leased },
    ...(settings === undefined
      ? {}
      : {
          name: settings.name,
          source: settings.source,
          exec: settings.exec,
          module: settings.module,
          out: settings.out,
        }),
  };
}
