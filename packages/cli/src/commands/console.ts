import { RunId, type TenantId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import type { GossipServer } from "@gossip/server";
import { ok, type Result } from "@gossip/stdx";
import type { Command } from "commander";
import { acting, addStoreCommand, readStoreFlags, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { consoleParts } from "../service/console-parts.ts";
import { startCommand } from "../service/own-command.ts";
import { openStoreFor } from "../store-url/open-store-for.ts";
import type { OpenedDirectStore } from "../store-url/opened-store.ts";

interface Flags extends StoreFlags {
  readonly listen: string;
  readonly operate?: boolean;
  readonly hideKeys?: boolean;
}

/** How long requests in progress may take after a signal to stop. */
const GRACE_MS = 1000;

/** `gossip console`: a web page of the runs in a store. */
export function registerConsole(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "console",
    summary: "Show the runs of a store in a web page on this machine",
    details:
      "Prints the address of the page, and serves it until Ctrl-C. The page shows runs, their keys, workers, failures and history as they change. It can only look, unless it is started with --operate. Only this machine can open it: for others, `gossip serve` has the same page for holders of a token.",
    examples: ["gossip console", "gossip console --store postgres://db.internal/gossip --operate"],
  })
    .option("--listen <host:port>", "where this machine opens the page; port 0 picks a free one", "127.0.0.1:7722")
    .option("--operate", "let the page park, split, pause, cancel, retry and delete")
    .option("--hide-keys", "show the sizes of keys and errors instead of the keys and errors themselves")
    .action(acting(cli, (flags: Flags) => showConsole(cli, flags)));
}

async function showConsole(cli: Cli, flags: Flags): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const { address, tso } = settings.value;
  if (address.kind === "service")
    return fail("BadCommandLine", "a service has this page itself: open its address with /console/ in a browser.");
  const listen = parseLoopback(flags.listen);
  if (!listen.ok) return listen;
  const opened = await openStoreFor(cli, { address, tso, mustExist: true });
  if (!opened.ok) return opened;
  try {
    const started = await start(cli, flags, { listen: listen.value, opened: opened.value as OpenedDirectStore });
    if (!started.ok) return started;
    await untilStopped(cli, started.value);
    return ok("Ok");
  } finally {
    await opened.value.close();
  }
}

async function start(
  cli: Cli,
  flags: Flags,
  { listen, opened }: { readonly listen: { host: string; port: number }; readonly opened: OpenedDirectStore },
): Promise<Result<GossipServer, CliError>> {
  const { GossipServer: Server, Principal } = await import("@gossip/server");
  const { store, isShared } = opened.direct;
  const mayOperate = flags.operate === true;
  const principal = new Principal("console", mayOperate ? "operate" : "read");
  const insight = {
    store,
    hideKeys: flags.hideKeys === true,
    isReadOnly: !mayOperate,
    storeName: opened.description,
    ...(mayOperate ? { retry: retries(cli, flags) } : {}),
  };
  const started = await Server.start({
    coordinator: new Coordinator({ store, clock: opened.clock }),
    clock: opened.clock,
    listen,
    isStoreShared: isShared,
    authenticate: () => principal,
    isOpen: true,
    ...(await consoleParts(cli, flags, insight)),
  });
  if (started.ok) return started;
  const code = started.error.kind === "ListenFailed" ? started.error.code : started.error.kind;
  return fail(
    "NotAllowed",
    `the port of --listen ${flags.listen} cannot be used (${code}): stop what listens there, or give --listen 127.0.0.1:0.`,
  );
}

/** Starts `gossip retry` for a run, unless it is running. */
function retries(cli: Cli, flags: Flags) {
  const running = new Set<RunId>();
  return ({ tenant, run }: { readonly tenant: TenantId; readonly run: RunId }): boolean => {
    if (running.has(run)) return false;
    running.add(run);
    const child = startCommand(cli, flags, ["retry", RunId.format(run), "--tenant", tenant]);
    child.stdout!.resume();
    child.once("close", () => running.delete(run));
    child.once("error", () => running.delete(run));
    return true;
  };
}

async function untilStopped(cli: Cli, server: GossipServer): Promise<void> {
  const { console } = cli;
  const url = `${server.url}/console/`;
  const stopListening: (() => void)[] = [];
  await new Promise<void>((stop) => {
    stopListening.push(cli.onSignal("SIGINT", stop), cli.onSignal("SIGTERM", stop));
    if (console.isJson) console.json({ kind: "console", url });
    else console.line(`The console is at ${url}`);
  });
  await server.drain({ graceMs: GRACE_MS });
  for (const each of stopListening) each();
}

/** An address of this machine only: the page asks for no token. */
function parseLoopback(text: string): Result<{ readonly host: string; readonly port: number }, CliError> {
  const [, host, port = ""] = /^(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    return fail(
      "BadCommandLine",
      "--listen is no address of this machine: write 127.0.0.1:PORT. Other machines need `gossip serve` with tokens.",
    );
  return ok({ host: host === "[::1]" ? "::1" : host, port: Number(port) });
}
