import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ClusterAdmin } from "@gossip/client";
import { RunId } from "@gossip/contracts";
import type { ResponseOf } from "@gossip/protocol";
import { ok } from "@gossip/stdx";
import { Option, type Command } from "commander";
import { acting, addCommand, readStoreFlags, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { describeStore } from "../store-url/store-address.ts";
import { readServiceTls } from "../store-url/open-service.ts";
import { refusedSentence } from "../store-url/service-sentences.ts";

interface MoveFlags extends StoreFlags {
  readonly to: string;
  readonly id?: string;
  readonly timeout: string;
}

const DEFAULT_TIMEOUT_S = 30;
/** How long a node may take to answer besides the move itself. */
const PATIENCE_MS = 10_000;

/** `gossip scope`: which node of a cluster owns what. */
export function registerScope(program: Command, cli: Cli): void {
  const scope = addCommand(program, {
    usage: "scope",
    summary: "See and move what the nodes of a cluster own",
    details:
      "A scope is the start of t/TENANT/r/RUN that a cluster file assigns to a node. These commands ask a running node, named by --store; its token needs the role admin.",
    examples: ["gossip scope list --store http://127.0.0.1:7711"],
  });
  const asking = (command: Command): Command =>
    command
      .addOption(new Option("-s, --store <url>", "a node, such as https://HOST:7711 (default: $GOSSIP_STORE)"))
      .option("--token-file <file>", "the file with the token (default: $GOSSIP_TOKEN)")
      .option("--ca <file>", "the authority of the node's certificate (PEM)")
      .option("--json", "one line of JSON for each result");

  asking(
    addCommand(scope, {
      usage: "list",
      summary: "List scopes with their owners, and moves",
      examples: ["gossip scope list --store http://127.0.0.1:7711"],
    }),
  ).action(acting(cli, (flags: StoreFlags) => asNode(cli, flags, (admin) => list(cli, admin))));

  asking(
    addCommand(scope, {
      usage: "route <run>",
      summary: "Print which node owns a run",
      examples: ["gossip scope route 00000000000000a1 --store http://127.0.0.1:7711"],
    }),
  )
    .option("--tenant <id>", "whose run: 64 hexadecimal digits (default: all zeros)")
    .action(
      acting(cli, (run: string, flags: StoreFlags) =>
        asNode(cli, flags, (admin, tenant) => route(cli, admin, { run, tenant })),
      ),
    );

  asking(
    addCommand(scope, {
      usage: "move <prefix>",
      summary: "Move a scope to another node",
      details:
        "Requests for the scope wait while it moves, usually for milliseconds. Workers keep their leases. If the command is interrupted, repeat it with the id that it printed.",
      examples: ["gossip scope move t/3f --to b --store http://127.0.0.1:7711"],
    }),
  )
    .requiredOption("--to <node>", "the node that gets it")
    .option("--id <id>", "identifies the move, to repeat it (default: random)")
    .option("--timeout <seconds>", "give up if it takes longer", String(DEFAULT_TIMEOUT_S))
    .action(acting(cli, (prefix: string, flags: MoveFlags) => move(cli, prefix, flags)));

  asking(
    addCommand(scope, {
      usage: "abort <id>",
      summary: "End a move that is not committed, at the node that started it",
      examples: ["gossip scope abort 5f2a9c41 --store http://127.0.0.1:7711"],
    }),
  ).action(
    acting(cli, (id: string, flags: StoreFlags) =>
      asNode(cli, flags, async (admin) => showMove(cli, await admin.abortMove({ id }))),
    ),
  );

  registerNodeCommands(scope, cli, asking);
}

/** The commands about a node, rather than about a scope. */
function registerNodeCommands(scope: Command, cli: Cli, asking: (command: Command) => Command): void {
  asking(
    addCommand(scope, {
      usage: "reload",
      summary: "Let a node read its cluster file again",
      details: "Scopes that exist keep their owners: only a move changes them.",
      examples: ["gossip scope reload --store http://127.0.0.1:7711"],
    }),
  ).action(acting(cli, (flags: StoreFlags) => asNode(cli, flags, (admin) => reload(cli, admin))));

  asking(
    addCommand(scope, {
      usage: "down <node>",
      summary: "Declare a node down, so that fallbacks take its scopes over",
      details:
        "Only scopes with a fallback in the cluster file are taken over, about six seconds later: by then the node has stopped writing them, even if it still runs. It stays out until `gossip scope up NODE`. Nothing is taken over without this command.",
      examples: ["gossip scope down a --store http://127.0.0.1:7712"],
    }),
  ).action(acting(cli, (node: string, flags: StoreFlags) => asNode(cli, flags, (admin) => down(cli, admin, node))));

  asking(
    addCommand(scope, {
      usage: "up <node>",
      summary: "Declare a node up again",
      details: "Its scopes stay where they are: move them back with `gossip scope move PREFIX --to NODE`.",
      examples: ["gossip scope up a --store http://127.0.0.1:7712"],
    }),
  ).action(acting(cli, (node: string, flags: StoreFlags) => asNode(cli, flags, (admin) => up(cli, admin, node))));

  addCommand(scope, {
    usage: "token <file>",
    summary: "Create the token between the nodes, and write it to a file",
    details: "Copy the file to every node, and give it to each with --cluster-token.",
    examples: ["gossip scope token cluster.token"],
  }).action(acting(cli, (file: string) => createToken(cli, file)));
}

async function list(cli: Cli, admin: ClusterAdmin): Promise<CommandResult> {
  const listed = await admin.listScopes();
  if (!listed.ok) return unreachable();
  const { node, epoch, nodes, scopes, moves } = listed.value;
  if (cli.console.isJson) {
    cli.console.json(listed.value);
    return ok("Ok");
  }
  const addressOf = new Map(nodes.map(({ name, address }) => [name, address]));
  cli.console.line(`node ${node}, epoch ${epoch}`);
  for (const { prefix, writer, fallback, state } of scopes)
    cli.console.line(
      `${prefix}  ${writer} (${addressOf.get(writer) ?? "unknown address"})  ${STATES[state]}${fallback === undefined ? "" : `  fallback ${fallback}`}`,
    );
  for (const { id, prefix, from, to, state } of moves)
    cli.console.line(`move ${id}: ${prefix} from ${from} to ${to}, ${state.toLowerCase()}`);
  return ok("Ok");
}

/** What a node says of a scope, for people. */
const STATES: Readonly<Record<ResponseOf<"listScopes">["scopes"][number]["state"], string>> = {
  Owned: "owned here",
  Misdirected: "owned there",
  Quiesced: "moving",
  Unavailable: "down",
  Unknown: "without an owner",
};

async function route(
  cli: Cli,
  admin: ClusterAdmin,
  { run: text, tenant }: { readonly run: string; readonly tenant: string },
): Promise<CommandResult> {
  if (!/^[0-9a-fA-F]{1,16}$/.test(text))
    return fail("BadCommandLine", "the run is not an id: write up to 16 hexadecimal digits.");
  const routed = await admin.routeRun({ tenant, run: RunId.format(RunId.fromRaw(BigInt(`0x${text}`))) });
  if (!routed.ok) return unreachable();
  const { owner, address, prefix, kind } = routed.value;
  if (cli.console.isJson) cli.console.json(routed.value);
  else if (owner === undefined) cli.console.line("no scope covers this run");
  else
    cli.console.line(`${owner} (${address ?? "unknown address"}) by ${prefix}${kind === "Quiesced" ? ", moving" : ""}`);
  return ok("Ok");
}

async function move(cli: Cli, prefix: string, flags: MoveFlags): Promise<CommandResult> {
  const seconds = Number(flags.timeout);
  if (!(seconds >= 1 && seconds <= 3_600))
    return fail("BadCommandLine", "--timeout is not a number of seconds: write one from 1 to 3600.");
  const id = flags.id ?? randomBytes(6).toString("hex");
  const timeoutMs = Math.round(seconds * 1_000);
  return asNode(
    cli,
    flags,
    async (admin) => {
      if (!cli.console.isJson) cli.console.line(`move ${id}`);
      return showMove(cli, await admin.moveScope({ id, prefix, to: flags.to, timeoutMs }));
    },
    timeoutMs,
  );
}

function showMove(cli: Cli, moved: Awaited<ReturnType<ClusterAdmin["moveScope"]>>): CommandResult {
  if (!moved.ok) return unreachable();
  const { id, outcome } = moved.value;
  if (cli.console.isJson) cli.console.json(moved.value);
  else cli.console.line(`move ${id}: ${outcome.toLowerCase()}`);
  return ok("Ok");
}

async function reload(cli: Cli, admin: ClusterAdmin): Promise<CommandResult> {
  const reloaded = await admin.reloadScopes();
  if (!reloaded.ok) return unreachable();
  if (cli.console.isJson) cli.console.json(reloaded.value);
  else cli.console.line(`epoch ${reloaded.value.epoch}`);
  return ok("Ok");
}

async function down(cli: Cli, admin: ClusterAdmin, node: string): Promise<CommandResult> {
  const declared = await admin.markDown({ node });
  if (!declared.ok) return unreachable();
  if (cli.console.isJson) cli.console.json(declared.value);
  else for (const { prefix, by } of declared.value.scopes) cli.console.line(`${prefix}  taken over by ${by}`);
  return ok("Ok");
}

async function up(cli: Cli, admin: ClusterAdmin, node: string): Promise<CommandResult> {
  const declared = await admin.markUp({ node });
  if (!declared.ok) return unreachable();
  if (cli.console.isJson) cli.console.json(declared.value);
  else cli.console.line(declared.value.wasDown ? `${node} is up` : `${node} was not declared down`);
  return ok("Ok");
}

async function createToken(cli: Cli, file: string): Promise<CommandResult> {
  const { makeClusterToken } = await import("@gossip/server");
  const path = resolve(cli.cwd, file);
  try {
    // Never over a file that exists: nodes may be using it.
    await writeFile(path, `${makeClusterToken(randomBytes)}\n`, { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return fail("NotAllowed", `${path} cannot be created (${code}): name a file that does not exist.`);
  }
  return ok("Ok");
}

/** Ask the node that `--store` names. */
async function asNode(
  cli: Cli,
  flags: StoreFlags,
  ask: (admin: ClusterAdmin, tenant: string) => Promise<CommandResult>,
  extraMs = 0,
): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const { address, tenant } = settings.value;
  if (address.kind !== "service")
    return fail("BadCommandLine", "scopes belong to a running node: give --store http://HOST:PORT or https://….");
  const tls = readServiceTls(address.files);
  if (!tls.ok) return tls;
  const { ClusterAdmin: Admin } = await import("@gossip/client");
  const patienceMs = PATIENCE_MS + extraMs;
  const admin = new Admin({
    url: address.url,
    token: address.token,
    tls: tls.value,
    patienceMs,
    replyTimeoutMs: patienceMs,
  });
  try {
    return await ask(admin, tenant);
  } catch (thrown) {
    const refused = refusedSentence(thrown, describeStore(address));
    if (refused === undefined) throw thrown;
    return fail(refused.kind, refused.message);
  } finally {
    admin.close();
  }
}

function unreachable(): CommandResult {
  return fail("StoreUnreachable", "the node does not answer: see that it runs, and that --store names it.");
}
