import { randomBytes } from "node:crypto";
import { Option, type Command } from "commander";
import { RunId, WorkerId, type ShardKey, type TenantId } from "@gossip/contracts";
import type { RunRecord, RunRequest, WorkerSession } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import {
  acting,
  addStoreCommand,
  withStore,
  type Cli,
  type CommandDescription,
  type CommandResult,
  type StoreFlags,
} from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { shellWord } from "../output/suggestions.ts";
import { findRun, formatShardId, parseShardId, type RunReference } from "../run/inspect/run-reference.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";

export interface RunFlag extends StoreFlags {
  /** The option of earlier versions, which is refused. */
  readonly run?: string;
}

/** The run that a command is about. */
export interface ChosenRun {
  readonly opened: OpenedStore;
  readonly tenant: TenantId;
  readonly record: RunRecord;
  readonly request: RunRequest;
}

/** The shard that a command is about. */
export interface ChosenShard extends ChosenRun {
  readonly key: ShardKey;
}

/** Accept `--run` in order to explain that the run is an argument. */
export function addOldRunOption(command: Command): Command {
  return command.addOption(new Option("--run <run>", "the first argument").hideHelp());
}

/** Refuse `--run`. The message has the command as it is written now. */
export function refuseRunOption(command: string, { run }: RunFlag, after: readonly string[]): Result<void, CliError> {
  if (run === undefined) return ok();
  const line = ["gossip", command, ...[run, ...after].map(shellWord)].join(" ");
  return fail("BadCommandLine", `--run is no option: the run is the first argument, so write \`${line}\`.`);
}

/** Open the store, find the run, use it, close the store. */
export function withRun(
  cli: Cli,
  flags: StoreFlags,
  reference: string | undefined,
  use: (chosen: ChosenRun) => Promise<CommandResult>,
): Promise<CommandResult> {
  return withFoundRun(cli, flags, { reference }, use);
}

/** As `withRun`. A retry is chosen only if it is named: the command is about what failed in the run itself. */
export function withFailedRun(
  cli: Cli,
  flags: StoreFlags,
  reference: string | undefined,
  use: (chosen: ChosenRun) => Promise<CommandResult>,
): Promise<CommandResult> {
  return withFoundRun(cli, flags, { reference, isRetryIgnored: true }, use);
}

function withFoundRun(
  cli: Cli,
  flags: StoreFlags,
  which: Omit<RunReference, "tenant">,
  use: (chosen: ChosenRun) => Promise<CommandResult>,
): Promise<CommandResult> {
  return withStore(cli, flags, async (opened, tenant) => {
    const record = await findRun(opened, { tenant, ...which });
    if (!record.ok) return record;
    const { run } = record.value;
    cli.console.suggestFor({ run: RunId.format(run) });
    return use({ opened, tenant, record: record.value, request: { tenant, run } });
  });
}

/** Add a command on one shard. Its last argument is the shard; the run before it may be left out. */
export function addShardCommand<F extends RunFlag>(
  program: Command,
  cli: Cli,
  description: CommandDescription,
  act: (chosen: ChosenShard, flags: F) => Promise<CommandResult>,
): Command {
  const name = description.usage;
  const command = addStoreCommand(program, { ...description, usage: `${name} [run] [shard]` }).usage(
    "[options] [run] <shard>",
  );
  return addOldRunOption(command).action(
    acting(cli, async (first: string | undefined, second: string | undefined, flags: F) => {
      const refused = refuseRunOption(name, flags, first === undefined ? [] : [first]);
      if (!refused.ok) return refused;
      const [reference, text] = second === undefined ? [undefined, first] : [first, second];
      if (text === undefined)
        return fail("BadCommandLine", `${name} needs a shard: \`gossip ${name} --help\` has examples.`);
      const shard = parseShardId(text);
      if (!shard.ok) return shard;
      return withShard(cli, flags, { reference, shard: shard.value }, (chosen) => act(chosen, flags));
    }),
  );
}

function withShard(
  cli: Cli,
  flags: StoreFlags,
  { reference, shard }: { readonly reference: string | undefined; readonly shard: ShardKey["shard"] },
  act: (chosen: ChosenShard) => Promise<CommandResult>,
): Promise<CommandResult> {
  return withRun(cli, flags, reference, (chosen) => {
    cli.console.suggestFor({ shard: formatShardId(shard) });
    return act({ ...chosen, key: { run: chosen.record.run, shard } });
  });
}

/** Acquire the shard as a worker does: some operations are for the lease holder only. */
export async function takeShard({ opened, tenant, key }: ChosenShard): Promise<Result<WorkerSession, CliError>> {
  const worker = WorkerId.fromRaw(randomBytes(8).readBigUInt64BE());
  const session = await opened.coordinator.openSession({ tenant, key, worker });
  return session.ok ? ok(session.value) : err(coordSentence(session.error));
}
