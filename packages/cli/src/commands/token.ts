import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { TenantId } from "@gossip/contracts";
import type { Role } from "@gossip/protocol";
import type { TokenFileError, TokenRecord } from "@gossip/server";
import { ok, type Result } from "@gossip/stdx";
import { Option, type Command } from "commander";
import { acting, addCommand, type Cli, type CommandResult } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { countOf } from "../output/number-words.ts";

interface TokenFlags {
  readonly tokens: string;
  readonly json?: boolean;
}

interface CreateFlags extends TokenFlags {
  readonly role: Role;
  readonly tenant?: readonly string[];
  readonly allTenants?: boolean;
  readonly name?: string;
  readonly expires?: string;
}

const DAY_MS = 86_400_000;
/** The protocol's roles, in its order. A copy, because the protocol's schemas take longer to load than all of this command. */
const ROLES = { read: true, work: true, operate: true, admin: true } as const satisfies Record<Role, true>;

/** `gossip token`: who may use `gossip serve`. */
export function registerToken(program: Command, cli: Cli): void {
  const token = addCommand(program, {
    usage: "token",
    summary: "Create, list and revoke the tokens of `gossip serve`",
    details:
      "The file holds hashes: a token is printed once, when it is created. A server notices a change within a second.",
    examples: ["gossip token create --tokens tokens.json --role work --all-tenants"],
  });
  const withFile = (command: Command): Command =>
    command
      .requiredOption("--tokens <file>", "the file of tokens")
      .option("--json", "one line of JSON for each result");

  withFile(
    addCommand(token, {
      usage: "create",
      summary: "Create a token, and print it",
      details:
        "Roles: read looks, work claims and makes progress, operate creates and ends runs, admin may do everything. Each includes those before it.",
      examples: ["gossip token create --tokens tokens.json --role work --all-tenants --name ci --expires 30"],
    }),
  )
    .addOption(new Option("--role <role>", "what it may do").choices(Object.keys(ROLES)).makeOptionMandatory())
    .option("--tenant <id>", "a tenant that it may use; can be given again", collect)
    .option("--all-tenants", "it may use every tenant")
    .option("--name <name>", "what to call it in lists")
    .option("--expires <days>", "after how many days it ends; never by default")
    .action(acting(cli, (flags: CreateFlags) => create(cli, flags)));

  withFile(
    addCommand(token, {
      usage: "list",
      summary: "List tokens, without the tokens themselves",
      examples: ["gossip token list --tokens tokens.json"],
    }),
  ).action(acting(cli, (flags: TokenFlags) => list(cli, flags)));

  withFile(
    addCommand(token, {
      usage: "revoke <id>",
      summary: "End a token",
      examples: ["gossip token revoke 1a2b3c4d --tokens tokens.json"],
    }),
  ).action(acting(cli, (id: string, flags: TokenFlags) => revoke(cli, id, flags)));
}

async function create(cli: Cli, flags: CreateFlags): Promise<CommandResult> {
  const tenants = tenantsOf(flags);
  if (!tenants.ok) return tenants;
  const days = flags.expires === undefined ? undefined : Number(flags.expires);
  if (days !== undefined && !(days > 0 && days <= 36_500))
    return fail("BadCommandLine", "--expires is not a number of days: write one from 1 to 36500.");
  const { changeTokenFile, makeToken } = await import("@gossip/server");
  const createdAtMs = Date.now();
  const { token, record } = makeToken(
    {
      name: flags.name ?? "",
      role: flags.role,
      tenants: tenants.value,
      createdAtMs,
      ...(days === undefined ? {} : { expiresAtMs: createdAtMs + days * DAY_MS }),
    },
    randomBytes,
  );
  const path = resolve(cli.cwd, flags.tokens);
  const changed = await changeTokenFile(path, (tokens) => ({ tokens: [...tokens, record], result: undefined }));
  if (!changed.ok) return refuse(changed.error);
  if (flags.json === true) cli.console.dataJson({ id: record.id, token });
  else cli.console.dataLines([token]);
  return ok("Ok");
}

async function list(cli: Cli, flags: TokenFlags): Promise<CommandResult> {
  const { isTokenLive, readTokenFile } = await import("@gossip/server");
  const tokens = await readTokenFile(resolve(cli.cwd, flags.tokens));
  if (!tokens.ok) return refuse(tokens.error);
  if (tokens.value.length === 0 && flags.json !== true) cli.console.note(`${flags.tokens} has no tokens.`);
  for (const record of tokens.value) {
    const { id, name, role, tenants, expiresAtMs } = record;
    const state = isTokenLive(record, Date.now()) ? "live" : record.revokedAtMs === undefined ? "expired" : "revoked";
    const expires = expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
    if (flags.json === true) cli.console.json({ id, name, role, tenants, state, expires });
    else
      cli.console.line(
        `${id}  ${state.padEnd(7)}  ${role.padEnd(7)}  ${tenants === "*" ? "all tenants" : countOf(tenants.length, "tenant")}  ${expires ?? "never ends"}  ${name}`,
      );
  }
  return ok("Ok");
}

async function revoke(cli: Cli, id: string, flags: TokenFlags): Promise<CommandResult> {
  const { changeTokenFile } = await import("@gossip/server");
  const changed = await changeTokenFile(resolve(cli.cwd, flags.tokens), (tokens) => ({
    tokens: tokens.map((record): TokenRecord => (record.id === id ? { ...record, revokedAtMs: Date.now() } : record)),
    result: tokens.some((record) => record.id === id),
  }));
  if (!changed.ok) return refuse(changed.error);
  if (!changed.value)
    return fail("NotAllowed", `there is no token ${id}: \`gossip token --help\` shows how to list them.`);
  if (flags.json === true) cli.console.json({ id, state: "revoked" });
  else cli.console.line(`${id} is revoked.`);
  return ok("Ok");
}

function tenantsOf({ tenant = [], allTenants = false }: CreateFlags): Result<TokenRecord["tenants"], CliError> {
  if (allTenants === tenant.length > 0)
    return fail("BadCommandLine", "say whose runs the token may use: give --tenant ID, or --all-tenants.");
  if (allTenants) return ok("*");
  const parsed = tenant.map((text) => TenantId.parse(text));
  const tenants = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  if (tenants.length < parsed.length)
    return fail("BadCommandLine", "--tenant is not a tenant's id: write 64 lower-case hexadecimal digits.");
  return ok(tenants);
}

function refuse(error: TokenFileError): Result<never, CliError> {
  switch (error.kind) {
    case "TokensLocked":
      return fail("NotAllowed", `another command is changing the tokens: if none is, remove ${error.path}.`);
    case "NotTokens":
      return fail("BadCommandLine", `${error.path} is not a file of tokens: name another with --tokens.`);
    case "TokensUnreadable":
      return fail("StoreNotWritable", `${error.path} cannot be read or written (${error.code}).`);
  }
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
