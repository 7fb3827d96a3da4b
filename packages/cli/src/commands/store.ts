import type { Command } from "commander";
import { err, ok } from "@gossip/stdx";
import {
  acting,
  addCommand,
  addStoreCommand,
  readStoreFlags,
  withStore,
  type Cli,
  type CommandResult,
  type StoreFlags,
} from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { countOf } from "../output/number-words.ts";
import { postgresSentence } from "../store-url/open-sentences.ts";
import { describeStore, type StoreAddress } from "../store-url/store-address.ts";

/** `gossip store`: commands about a store itself, and not about the runs in it. */
export function registerStore(program: Command, cli: Cli): void {
  const store = addCommand(program, {
    usage: "store",
    summary: "Maintain a store",
    examples: ["gossip store migrate --store postgres://db.internal/gossip"],
  });
  addStoreCommand(store, {
    usage: "migrate",
    summary: "Create the tables of a store, or bring them up to date",
    details:
      "Opening a PostgreSQL store does so by itself while the store is empty, or while no process of another version is connected. Otherwise stop the processes of older versions and run this command: once the tables are newer, older versions refuse to open them. Other kinds of stores need no migration.",
    examples: ["gossip store migrate --store postgres://db.internal/gossip"],
  }).action(acting(cli, (flags: StoreFlags) => migrate(cli, flags)));
}

async function migrate(cli: Cli, flags: StoreFlags): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const { address } = settings.value;
  if (address.kind === "postgres") return migratePostgres(cli, address);
  if (address.kind === "service")
    return fail(
      "NotAllowed",
      "a service migrates its own store: run this on its machine, with the --store of `gossip serve`.",
    );
  return withStore(cli, flags, async ({ description }) => {
    if (cli.console.isJson) cli.console.json({ kind: "current" });
    else cli.console.line(`${description}: needs no migration.`);
    return ok("Ok");
  });
}

async function migratePostgres(
  { console }: Cli,
  address: Extract<StoreAddress, { readonly kind: "postgres" }>,
): Promise<CommandResult> {
  const where = describeStore(address);
  const { migratePostgresStore, postgresOpenErrorMessage } = await import("@gossip/coordination-postgres");
  const migrated = await migratePostgresStore({
    url: address.url,
    ...(address.schema === undefined ? {} : { schema: address.schema }),
  });
  if (!migrated.ok)
    return err(postgresSentence(migrated.error, { where, why: postgresOpenErrorMessage(migrated.error) }));
  const { from, to, otherSessions } = migrated.value;
  if (console.isJson) console.json({ kind: from === to ? "current" : "migrated", from, to, otherSessions });
  else if (from === to) console.line(`${where}: the tables have version ${to}, which is current.`);
  else {
    console.line(`${where}: ${from === 0 ? "created" : `migrated from version ${from}:`} tables of version ${to}.`);
    if (from > 0 && otherSessions > 0)
      console.note(
        `${countOf(otherSessions, "other session")} of this database may belong to an older version: restart those processes with this one.`,
      );
  }
  return ok("Ok");
}
