import type { Command } from "commander";
import { OpId, type RunId, type ShardId, type TenantId } from "@gossip/contracts";
import { ShardFilter } from "@gossip/coordination";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type CommandResult } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { countOf } from "../output/number-words.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { readShardRows } from "../run/inspect/read-shards.ts";
import { findRun, formatShardId, parseShardId } from "../run/inspect/run-reference.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";
import type { ShardFlags } from "./shard-command.ts";

/** `gossip unpark`: let workers at parked shards again. */
export function registerUnpark(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "unpark [shard]",
    summary: "Let workers take a parked shard again, or all of them",
    examples: ["gossip unpark 3", "gossip unpark --all --run nightly"],
  })
    .option("--run <run>", "its run, as `gossip status` takes it")
    .option("--all", "every parked shard of the run")
    .action(
      acting(cli, (text: string | undefined, flags: ShardFlags & { readonly all?: boolean }) => {
        if ((text === undefined) === (flags.all !== true))
          return Promise.resolve(fail("BadCommandLine", "unpark takes either a shard or --all: give one of them."));
        return withStore(cli, flags, async (opened, tenant) => {
          const record = await findRun(opened, tenant, flags.run);
          if (!record.ok) return record;
          const { run } = record.value;
          if (text !== undefined) {
            const shard = parseShardId(text);
            return shard.ok ? unpark(cli, { opened, tenant, run, shards: [shard.value] }) : shard;
          }
          const parked = await readShardRows(opened, { tenant, run }, ShardFilter.PARKED);
          return parked.ok
            ? unpark(cli, { opened, tenant, run, shards: parked.value.map(({ shard }) => shard) })
            : parked;
        });
      }),
    );
}

interface Unparking {
  readonly opened: OpenedStore;
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shards: readonly ShardId[];
}

async function unpark(cli: Cli, { opened, tenant, run, shards }: Unparking): Promise<CommandResult> {
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
