import type { Command } from "commander";
import { WorkerId, type ShardKey, type TenantId } from "@gossip/contracts";
import type { WorkerSession } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import { randomBytes } from "node:crypto";
import {
  acting,
  addStoreCommand,
  withStore,
  type Cli,
  type CommandDescription,
  type CommandResult,
  type StoreFlags,
} from "../cli.ts";
import type { CliError } from "../output/cli-error.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { findRun, parseShardId } from "../run/inspect/run-reference.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";

export interface ShardFlags extends StoreFlags {
  readonly run?: string;
}

/** The shard that a command was told to work on. */
export interface ChosenShard {
  readonly opened: OpenedStore;
  readonly tenant: TenantId;
  readonly key: ShardKey;
}

/** Add a command on one shard, which `--run` and an argument name. */
export function addShardCommand<F extends ShardFlags>(
  program: Command,
  cli: Cli,
  description: CommandDescription,
  act: (chosen: ChosenShard, flags: F) => Promise<CommandResult>,
): Command {
  return addStoreCommand(program, description)
    .option("--run <run>", "its run, as `gossip status` takes it")
    .action(
      acting(cli, (text: string, flags: F) =>
        withStore(cli, flags, async (opened, tenant) => {
          const shard = parseShardId(text);
          if (!shard.ok) return shard;
          const record = await findRun(opened, tenant, flags.run);
          return record.ok
            ? act({ opened, tenant, key: { run: record.value.run, shard: shard.value } }, flags)
            : record;
        }),
      ),
    );
}

/** Acquire the shard as a worker does: some operations are for the lease holder only. */
export async function takeShard({ opened, tenant, key }: ChosenShard): Promise<Result<WorkerSession, CliError>> {
  const worker = WorkerId.fromRaw(randomBytes(8).readBigUInt64BE());
  const session = await opened.coordinator.openSession({ tenant, key, worker });
  return session.ok ? ok(session.value) : err(coordSentence(session.error));
}
