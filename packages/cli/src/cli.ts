import { Option, type Command, type CommanderError } from "commander";
import { TenantId } from "@gossip/contracts";
import { maskCredentials } from "@gossip/insight";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "./output/cli-error.ts";
import type { Console } from "./output/console.ts";
import type { ExitName } from "./output/exit-codes.ts";
import { shellWord } from "./output/suggestions.ts";
import type { ListInput } from "./run/list/list-source.ts";
import { openStoreFor } from "./store-url/open-store-for.ts";
import type { OpenStoreOptions } from "./store-url/open-store.ts";
import type { OpenedStore } from "./store-url/opened-store.ts";
import type { OracleAddress } from "./store-url/oracle-clock.ts";
import { TOKEN_VARIABLE, withServiceFlags, type ServiceFlags } from "./store-url/service-address.ts";
import { DEFAULT_STORE, parseStoreAddress, type StoreAddress } from "./store-url/store-address.ts";

/** What a command uses of its process, so that a test can replace it. */
export interface Cli {
  readonly console: Console;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** `undefined` if there is none. */
  readonly stdin?: ListInput;
  /** Call `listener` at each such signal. Returns a function that stops it. */
  onSignal(name: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGWINCH", listener: () => void): () => void;
  /** Call `listener` when output can no longer be written, before the process exits. Returns a function that stops it. */
  onOutputLost(listener: () => void): () => void;
  /** Call `close` before an immediate exit, which waits for it for a few seconds. Returns a function that forgets it. */
  beforeExit(close: () => Promise<void>): () => void;
  /** Exit, whatever is in progress, as soon as what was registered with `beforeExit` is closed. Returns first. */
  exitNow(exit: ExitName): void;
  /** How the command ended. */
  exit: ExitName;
}

export type CommandResult = Result<ExitName, CliError>;

/** What every command that works on a store takes. */
export interface StoreFlags extends ServiceFlags {
  readonly store?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

export interface CommandDescription {
  /** As commander has it: the name, then arguments. */
  readonly usage: string;
  readonly summary: string;
  /** More of it, for `--help`. */
  readonly details?: string;
  /** Command lines that can be copied. */
  readonly examples: readonly string[];
}

const DESCRIPTIONS = new WeakMap<Command, CommandDescription>();

/** What a command was described as. */
export function descriptionOf(command: Command): CommandDescription | undefined {
  return DESCRIPTIONS.get(command);
}

/** Add a command with its description and examples. */
export function addCommand(parent: Command, description: CommandDescription): Command {
  const { usage, summary, details, examples } = description;
  const command = parent
    .command(usage)
    .summary(summary)
    .description(details === undefined ? `${summary}.` : `${summary}.\n\n${details}`);
  DESCRIPTIONS.set(command, description);
  const title = examples.length === 1 ? "Example:" : "Examples:";
  return command.addHelpText("after", `\n${title}\n${examples.map((line) => `  $ ${line}`).join("\n")}`);
}

/** The same, with the options that name a store. */
export function addStoreCommand(parent: Command, description: CommandDescription): Command {
  return addCommand(parent, description)
    .addOption(
      new Option(
        "-s, --store <where>",
        `a folder, lmdb:FOLDER, postgres://…, etcd://…, or a service at https://… (default: $GOSSIP_STORE, or ${DEFAULT_STORE})`,
      ),
    )
    .option("--token-file <file>", `the token for a service (default: $${TOKEN_VARIABLE})`)
    .option("--ca <file>", "the authority that signed the certificate of a service (PEM)")
    .option("--tenant <id>", "whose runs: 64 hexadecimal digits (default: all zeros)")
    .option(
      "--tso <host:port,…>",
      "take the time from a timestamp oracle instead of this machine's clock; tsos://HOST:PORT for TLS",
    )
    .option("--json", "one line of JSON for each result");
}

/** Run the action, print its error, and record how it ended. */
export function acting<Args extends unknown[]>(
  cli: Cli,
  action: (...args: Args) => Promise<CommandResult>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const result = await action(...args);
    cli.exit = result.ok ? result.value : cli.console.fail(result.error);
  };
}

export interface StoreSettings {
  readonly address: StoreAddress;
  readonly tenant: TenantId;
  readonly tso: OracleAddress | undefined;
}

/** Read the options that name a store. */
export function readStoreFlags(cli: Cli, flags: StoreFlags): Result<StoreSettings, CliError> {
  cli.console.isJson = flags.json === true;
  cli.console.suggestFor({ storeOptions: optionsOf(flags) });
  const address = parseStoreAddress(flags.store ?? (cli.env["GOSSIP_STORE"] || DEFAULT_STORE), cli.cwd);
  if (!address.ok) return address;
  const complete = address.value.kind === "service" ? withServiceFlags(address.value, flags, cli) : address;
  if (!complete.ok) return complete;
  const tenant = flags.tenant === undefined ? ok(TenantId.ZERO) : TenantId.parse(flags.tenant);
  if (!tenant.ok)
    return fail("BadCommandLine", "--tenant is not a tenant's id: write 64 lower-case hexadecimal digits.");
  return ok({
    address: complete.value,
    tenant: tenant.value,
    tso: flags.tso === undefined ? undefined : { text: flags.tso, token: cli.env["GOSSIP_TSO_TOKEN"] },
  });
}

/** The options that name a store, as words of a shell. A password is not printed: the user's variable has it. */
function optionsOf({ store, tokenFile, ca, tenant, tso }: StoreFlags): string[] {
  const given = Object.entries({ store, "token-file": tokenFile, ca, tenant, tso }).filter(
    ([, value]) => value !== undefined,
  );
  const isSecret = (value: string): boolean => maskCredentials(value) !== value;
  return given.flatMap(([name, value]) => [
    `--${name}`,
    name === "store" && isSecret(value!) ? '"$GOSSIP_STORE"' : shellWord(value!),
  ]);
}

/** Open the store that the options name, use it, close it. */
export async function withStore(
  cli: Cli,
  flags: StoreFlags,
  use: (opened: OpenedStore, tenant: TenantId) => Promise<CommandResult>,
  { verify = false }: Pick<OpenStoreOptions, "verify"> = {},
): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const { address, tso, tenant } = settings.value;
  const opened = await openStoreFor(cli, { address, tso, mustExist: true, verify });
  if (!opened.ok) return opened;
  try {
    return await use(opened.value, tenant);
  } finally {
    await opened.value.close();
  }
}

/** Commander's message about a command line, as a sentence that says what to do. */
export function commandLineError(error: CommanderError, command: string): CliError {
  // Commander printed the help and has no message: a group of commands without a command, or help for an unknown command.
  if (error.code === "commander.help")
    return {
      kind: "BadCommandLine",
      message:
        command === "gossip"
          ? "there is no such command: name one of these."
          : `${command.replace(/^gossip /, "")} alone does nothing: name one of its commands.`,
    };
  const said = error.message
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/[.]$/, "");
  return { kind: "BadCommandLine", message: `${said}: \`${command} --help\` shows what there is.` };
}
