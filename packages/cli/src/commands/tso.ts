import { resolve } from "node:path";
import type { Command } from "commander";
import { ok, type Result } from "@gossip/stdx";
import { WindowGrant } from "@gossip/tso";
import { acting, addCommand, type Cli, type CommandResult } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { stopSignal } from "../stop-signal.ts";
import { connectOracle } from "../store-url/oracle-clock.ts";
import { openOracle, type OracleFlags } from "../tso/open-oracle.ts";

/** Bits of a timestamp below its milliseconds. */
const LOGICAL_BITS = 18n;

interface GetFlags {
  readonly tso: string;
  readonly count: string;
  readonly json?: boolean;
}

/** `gossip tso`: one time for a fleet. */
export function registerTso(program: Command, cli: Cli): void {
  const tso = addCommand(program, {
    usage: "tso",
    summary: "Serve, or ask for, one strictly increasing time for many machines",
    details:
      "Machines that share a store each go by their own clock, unless --tso gives them all one: a clock that runs ahead ends the leases of others.",
    examples: [
      "gossip tso serve --data ./tso-data",
      "gossip run --tso tso-1.internal:50551 --source fs:/data --exec 'sha256sum {}'",
    ],
  });

  addCommand(tso, {
    usage: "serve",
    summary: "Serve timestamps until Ctrl-C",
    details:
      "An etcd that asks for a user or a certificate gets them from the --etcd-… options, or from the URL: https://USER:PASSWORD@HOST:2379?ca=FILE&cert=FILE&key=FILE. The password can also be in a file or in GOSSIP_ETCD_PASSWORD; it is never printed. Before you let --listen reach other machines, give --tls-cert and --tls-key, and --tokens or --tls-client-ca. SIGHUP reads these files again, and closes the connections of clients whose token is gone.",
    examples: [
      "gossip tso serve --data ./tso-data",
      "gossip tso serve --etcd http://etcd-1.internal:2379 --listen 10.0.0.5:50551",
    ],
  })
    .option("--data <folder>", "keep what must survive in a folder of this machine")
    .option("--etcd <urls>", "stand by with others over etcd; one of them leads")
    .option("--etcd-user <name>", "log in to etcd; the password is in a file or in $GOSSIP_ETCD_PASSWORD")
    .option("--etcd-password-file <file>", "the password of --etcd-user")
    .option("--etcd-ca <file>", "who may sign etcd's certificate (PEM)")
    .option("--etcd-cert <file>", "this client's certificate for etcd (PEM)")
    .option("--etcd-key <file>", "its key (PEM)")
    .option("--etcd-server-name <name>", "the name in etcd's certificate, if it is not the host")
    .option(
      "--listen <host:port>",
      "where clients connect; open to every client that can reach it, unless you set the options below",
      "127.0.0.1:50551",
    )
    .option("--tls-cert <file>", "encrypt every port with this certificate (PEM)")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--tls-client-ca <file>", "serve only clients with a certificate of these authorities (PEM)")
    .option("--tokens <file>", "serve only clients with one of these tokens: on each line a token or its SHA-256")
    .option("--http <host:port>", "timestamps for curl, /healthz, /readyz, /metrics; off for none", "127.0.0.1:50552")
    .option("--json", "one line of JSON for each event")
    .action(acting(cli, (flags: OracleFlags & { readonly json?: boolean }) => serve(cli, flags)));

  addCommand(tso, {
    usage: "get",
    summary: "Ask for timestamps",
    details:
      "An oracle over TLS is tsos://HOST:PORT,…?ca=FILE&cert=FILE&key=FILE&server-name=NAME; every setting can be left out. A token is taken from GOSSIP_TSO_TOKEN.",
    examples: ["gossip tso get", "gossip tso get --tso tso-1.internal:50551 --count 10 --json"],
  })
    .option("--tso <host:port,…>", "whom to ask; tsos://HOST:PORT for TLS", "127.0.0.1:50551")
    .option("--count <count>", "how many, one after the other", "1")
    .option("--json", "one line of JSON for each")
    .action(acting(cli, (flags: GetFlags) => get(cli, flags)));
}

async function serve(cli: Cli, flags: OracleFlags & { readonly json?: boolean }): Promise<CommandResult> {
  const { console } = cli;
  const say = (kind: string, text: string): void =>
    console.isJson ? console.json({ kind, text }) : console.line(`${kind} ${text}`);
  const opened = await openOracle(
    { ...flags, ...(flags.data === undefined ? {} : { data: resolve(cli.cwd, flags.data) }) },
    cli,
    say,
  );
  if (!opened.ok) return opened;
  const { server, reload, close } = opened.value;
  const stop = stopSignal(cli, { hangUp: () => void reload().then((text) => say("reload", text)) });
  stop.signal.addEventListener("abort", () => void server.shutdown(), { once: true });
  try {
    const finished = await server.finished;
    if (finished.ok || stop.signal.aborted) return ok("Ok");
    return fail(
      "StoreFailed",
      `the oracle cannot go on (${finished.error.kind}): check where it keeps its state, then start it again.`,
    );
  } finally {
    stop.dispose();
    // Only now: another may lead from here on.
    await close();
  }
}

async function get(cli: Cli, flags: GetFlags): Promise<CommandResult> {
  const count = /^\d{1,6}$/.test(flags.count) ? Number(flags.count) : 0;
  if (count < 1 || count > 262_144)
    return fail("BadCommandLine", "--count is not a number of timestamps: write one from 1 to 262144.");
  const first = await ask(cli, flags.tso, count);
  if (!first.ok) return first;
  for (let index = 0n; index < BigInt(count); index++) {
    const timestamp = first.value + index;
    const physical = new Date(Number(timestamp >> LOGICAL_BITS)).toISOString();
    if (flags.json === true)
      cli.console.json({
        timestamp: String(timestamp),
        physical,
        logical: Number(timestamp & ((1n << LOGICAL_BITS) - 1n)),
      });
    else cli.console.line(`${timestamp}  ${physical}`);
  }
  return ok("Ok");
}

async function ask(cli: Cli, tso: string, count: number): Promise<Result<bigint, CliError>> {
  const connected = await connectOracle(tso, cli);
  if (!connected.ok) return connected;
  const { client, endpoints } = connected.value;
  try {
    const batch = await client.getTsBatch(count);
    if (batch.ok) return ok(WindowGrant.first(batch.value));
    return fail(
      "ClockUnreachable",
      `no timestamp oracle answers at ${endpoints.join(", ")} (${"reason" in batch.error ? batch.error.reason : batch.error.kind}): start one with \`gossip tso serve --data tso\`, or correct --tso.`,
    );
  } finally {
    client.close();
  }
}
