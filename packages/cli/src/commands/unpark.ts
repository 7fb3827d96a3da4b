import type { Command } from "commander";
import { OpId, type ShardId } from "@gossip/contracts";
import { ShardFilter } from "@gossip/coordination";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { countOf } from "../output/number-words.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { readShardRows } from "../run/inspect/read-shards.ts";
import { formatShardId, parseShardId } from "../run/inspect/run-reference.ts";
import { addOldRunOption, refuseRunOption, withRun, type ChosenRun, type RunFlag } from "./chosen-run.ts";

interface Flags extends RunFlag {
  readonly all?: boolean;
}

/** `gossip unpark`: let workers take parked shards again. */
export function registerUnpark(program: Command, cli: Cli): void {
  const command = addStoreCommand(program, {
    usage: "unpark [run] [shard]",
    summary: "Let workers take a parked shard again, or all of them",
    examples: ["gossip unpark 3", "gossip unpark nightly --all"],
  })
    .usage("[options] [run] <shard>\n       gossip unpark [options] [run] --all")
    .option("--all", "every parked shard of the run");
  addOldRunOption(command).action(
    acting(cli, async (first: string | undefined, second: string | undefined, flags: Flags) => {
      const isAll = flags.all === true;
      const refused = refuseRunOption("unpark", flags, isAll ? ["--all"] : first === undefined ? [] : [first]);
      if (!refused.ok) return refused;
      if (isAll ? second !== undefined : first === undefined)
        return fail("BadCommandLine", "unpark takes either a shard or --all: give one of them.");
      if (isAll) return withRun(cli, flags, first, (chosen) => unparkAll(cli, chosen));
      const [reference, text] = second === undefined ? [undefined, first!] : [first, second];
      const shard = parseShardId(text);
      return shard.ok ? withRun(cli, flags, reference, (chosen) => unpark(cli, chosen, [shard.value])) : shard;
    }),
  );
}

async function unparkAll(cli: Cli, chosen: ChosenRun): Promise<CommandResult> {
  const parked = await readShardRows(chosen.opened, chosen.request, ShardFilter.PARKED);
  if (!parked.ok) return parked;
  return unpark(
    cli,
    chosen,
    parked.value.map(({ shard }) => shard),
  );
}

async function unpark(
  cli: Cli,
  { opened, tenant, record: { run } }: ChosenRun,
  shards: readonly ShardId[],
): Promise<CommandResult> {
  for (const shard of shards) {
    const done = await opened.coordinator.unpark({ tenant, key: { run, shard }, opId: OpId.random() });
    if (!done.ok) return err(coordSentence(done.error));
    if (cli.console.isJson) cli.console.json({ run, shard, status: "Active" });
  }
  if (!cli.console.isJson)
    cli.console.note(
      shards.length === 1
        ? `Unparked shard ${formatShardId(shards[0]!)}.`
        : `Unparked ${countOf(shards.length, "shard")}.`,
    );
  return ok("Ok");
}
