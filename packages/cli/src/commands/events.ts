import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import type { RunRequest, ShardRecord } from "@gossip/coordination";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { countOf } from "../output/number-words.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { EventTail, type StoredEvent } from "../run/inspect/event-tail.ts";
import { visitShards } from "../run/inspect/read-shards.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { flaws, type ItemTotals } from "../run/results/item-totals.ts";
import { stopSignal } from "../stop-signal.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { withRun } from "./chosen-run.ts";
import { readIntervalMs } from "./number-options.ts";

interface Flags extends StoreFlags {
  readonly follow?: boolean;
  readonly every: string;
}

/** `gossip events`: what happened to a run, and what happens now. */
export function registerEvents(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "events [run]",
    summary: "Show what happened to a run, and follow what happens",
    details:
      "Records keep their last operations; these are shown first. With --follow, changes are shown as they are seen, until the run has ended.",
    examples: ["gossip events", "gossip events nightly --follow --json"],
  })
    .option("-f, --follow", "continue until the run has ended, or Ctrl-C")
    .option("--every <seconds>", "how often to look", "1")
    .action(
      acting(cli, (reference: string | undefined, flags: Flags) => {
        const everyMs = readIntervalMs("--every", flags.every);
        if (!everyMs.ok) return Promise.resolve(everyMs);
        return withRun(cli, flags, reference, ({ opened, request }) =>
          printEvents(cli, opened, { request, isFollowing: flags.follow === true, everyMs: everyMs.value }),
        );
      }),
    );
}

interface EventOptions {
  readonly request: RunRequest;
  readonly isFollowing: boolean;
  readonly everyMs: number;
}

async function printEvents(
  cli: Cli,
  opened: OpenedStore,
  { request, isFollowing, everyMs }: EventOptions,
): Promise<CommandResult> {
  const tail = new EventTail();
  const stop = stopSignal(cli);
  try {
    for (;;) {
      const run = await opened.coordinator.getRun(request);
      if (!run.ok) return err(coordSentence(run.error));
      const shards: ShardRecord[] = [];
      const read = await visitShards(opened, request, (shard) => void shards.push(shard), { withLog: true });
      if (!read.ok) return read;
      for (const event of tail.look(run.value, shards, await opened.clock.now())) print(cli, request, event);
      if (!isFollowing || RunStatus.isTerminal(run.value.status) || stop.signal.aborted) return ok("Ok");
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    stop.dispose();
  }
}

function print({ console }: Cli, { run }: RunRequest, { at, shard, what, totals }: StoredEvent): void {
  if (console.isJson) return console.json({ at: timeJson(at), run, shard, what, ...countsOf(totals) });
  const where = shard === undefined ? `run ${RunId.format(run)}` : `shard ${formatShardId(shard)}`;
  const done = totals === undefined ? "" : `: ${countOf(totals.items, "item")}${flaws(totals)}`;
  console.line(`${formatTime(at)}  ${where}  ${what}${done}`);
}

function countsOf(totals: ItemTotals | undefined): object {
  if (totals === undefined) return {};
  const { items, failed, unreadable } = totals;
  return { items, failed, unreadable };
}
