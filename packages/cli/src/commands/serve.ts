import { appendFileSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { Coordinator } from "@gossip/coordination";
import type { ClusterRuntime, GossipServer, ServeError, ServerOptions, TlsFiles, TokenBook } from "@gossip/server";
import { assert, ok, type Result } from "@gossip/stdx";
import { Option, type Command } from "commander";
import { acting, addCommand, readStoreFlags, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { consoleParts } from "../service/console-parts.ts";
import { openCluster, readClusterMembership, reloadTokens, type ClusterFlags } from "../service/cluster.ts";
import { openEtcdClock } from "../service/etcd-clock.ts";
import { clockOfClient, openNodeClock, type NodeClock } from "../service/node-clock.ts";
import { connectOracle, type OracleAddress } from "../store-url/oracle-clock.ts";
import { openStoreFor } from "../store-url/open-store-for.ts";
import { DEFAULT_STORE, type DirectAddress } from "../store-url/store-address.ts";

interface ServeFlags extends StoreFlags, ClusterFlags {
  readonly listen?: string;
  readonly tokens?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly clock?: string;
  readonly tsoListen?: string;
  readonly audit?: string;
}

/** Shards whose records a node keeps, so that checkpoints need no read. */
const SHARD_COPIES = 20_000;
const DEFAULT_LISTEN = "127.0.0.1:7711";
/** How long requests in progress may take after a signal to stop. */
const GRACE_MS = 10_000;

/** `gossip serve`: a store for workers in any language, over HTTP. */
export function registerServe(program: Command, cli: Cli): void {
  addCommand(program, {
    usage: "serve",
    summary: "Serve a store over HTTP, for workers in any language",
    details:
      "Workers then need neither Node nor the password of the database. Without --tokens only this machine can connect. SIGTERM and Ctrl-C finish what is in progress; SIGHUP reads the certificates and the tokens between nodes again. The protocol is described in docs/reference/protocol.md.",
    examples: ["gossip serve --store /var/lib/gossip", "gossip serve --listen 127.0.0.1:7711 --tokens tokens.json"],
  })
    .addOption(
      new Option(
        "-s, --store <where>",
        `a folder, lmdb:FOLDER, postgres://… or etcd://… (default: $GOSSIP_STORE, or ${DEFAULT_STORE})`,
      ),
    )
    .option(
      "--listen <host:port>",
      "where clients connect; another host than loopback needs --tokens (default: 127.0.0.1:7711, or the node's address in the cluster file)",
    )
    .option("--cluster <file>", "be a node of the cluster that this file describes (TOML)")
    .option("--node <name>", "this node's name in the cluster file")
    .option(
      "--cluster-state <folder>",
      "keep here what this node owns (default: below the folder of an embedded store)",
    )
    .option(
      "--cluster-token <file>",
      "the token between the nodes; `gossip scope token --help` shows how to create one",
    )
    .option(
      "--tokens <file>",
      "serve only clients with a token of this file; `gossip token --help` shows how to create one",
    )
    .option("--tls-cert <file>", "encrypt with this certificate (PEM)")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--tls-client-ca <file>", "serve only clients with a certificate of these authorities (PEM)")
    .option(
      "--tso <where>",
      "take the time from a timestamp oracle at HOST:PORT,…, with TLS at tsos://HOST:PORT, or be one of several oracles that elect a leader in etcd://HOST:2379",
    )
    .option(
      "--tso-listen <host:port>",
      "with --tso etcd://…: where other nodes get the time from this one (default: the port after that of --listen)",
    )
    .option("--clock <folder>", "keep this node's own clock here (default: below the folder of an embedded store)")
    .option("--audit <file>", "append a line of JSON for each call of an operator")
    .option("--json", "one line of JSON for each event")
    .action(acting(cli, (flags: ServeFlags) => serve(cli, flags)));
}

async function serve(cli: Cli, flags: ServeFlags): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const { address, tso } = settings.value;
  if (address.kind === "service")
    return fail("BadCommandLine", "--store names another service: give serve a folder, postgres://… or etcd://….");
  const cluster = await readClusterMembership(flags, {
    isStoreShared: address.kind !== "lmdb",
    resolvePath: (path) => resolve(cli.cwd, path),
  });
  if (!cluster.ok) return cluster;
  const listen = parseListen(flags.listen ?? cluster.value?.address ?? DEFAULT_LISTEN);
  if (!listen.ok) return listen;
  const tls = readTls(cli, flags);
  if (!tls.ok) return tls;
  const opened = await openStoreFor(cli, { address });
  if (!opened.ok) return opened;
  const { direct } = opened.value;
  assert(direct !== undefined, "only a service has no records of its own");
  try {
    const time = await openTime(cli, flags, {
      address,
      tso,
      listen: listen.value,
      tls: tls.value,
      advertised: cluster.value?.address,
    });
    if (!time.ok) return time;
    try {
      const runtime = await openCluster(cli, flags, {
        membership: cluster.value,
        address,
        data: direct.transfer,
        shared: direct.isShared ? direct.store : undefined,
        clock: time.value.clock,
        tls: tls.value,
        onBroken: (code) => {
          say(cli, "cluster", `the journal cannot be written (${code}): this node stops`);
          cli.exitNow("StoreFailed");
        },
      });
      if (!runtime.ok) return runtime;
      try {
        return await listenUntilStopped(cli, flags, {
          listen: listen.value,
          tls: tls.value,
          cluster: runtime.value,
          opened: direct,
          time: time.value,
        });
      } finally {
        await runtime.value?.close();
      }
    } finally {
      await time.value.close();
    }
  } finally {
    await opened.value.close();
  }
}

interface Parts {
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: TlsFiles | undefined;
  readonly cluster: ClusterRuntime | undefined;
  readonly opened: {
    readonly store: ConstructorParameters<typeof Coordinator>[0]["store"];
    readonly isShared: boolean;
  };
  readonly time: NodeClock;
}

async function listenUntilStopped(
  cli: Cli,
  flags: ServeFlags,
  { listen, tls, cluster, opened, time }: Parts,
): Promise<CommandResult> {
  const { GossipServer: Server, TokenBook: Book } = await import("@gossip/server");
  const { clock } = time;
  let book: TokenBook | undefined;
  if (flags.tokens !== undefined) {
    const path = resolve(cli.cwd, flags.tokens);
    const read = await Book.open({
      path,
      nowMs: Date.now,
      onProblem: ({ kind }) => say(cli, "tokens", `cannot be read (${kind}): no token is accepted`),
    });
    if (!read.ok)
      return fail(
        "BadCommandLine",
        `the tokens in ${path} cannot be read (${read.error.kind}): \`gossip token --help\` shows how to write such a file.`,
      );
    book = read.value;
  }
  const audit = openAudit(cli, flags.audit);
  if (!audit.ok) return audit;
  const started = await Server.start({
    coordinator: new Coordinator({ store: opened.store, clock, shardCopies: SHARD_COPIES }),
    clock,
    timestamps: (count) => time.timestamps(count),
    listen,
    tls,
    isStoreShared: opened.isShared,
    cluster,
    clusterHandler: cluster?.handler,
    authenticate: book?.authenticate,
    isLive: book?.isLive,
    audit: audit.value,
    onDefect: (thrown) => say(cli, "defect", thrown instanceof Error ? thrown.name : typeof thrown),
    ...(await consoleParts(cli, flags, { store: opened.store, recordsUnwatched: true })),
  });
  if (!started.ok) {
    book?.close();
    return refuse(started.error, `${listen.host}:${listen.port}`);
  }
  cluster?.resume();
  await untilStopped(cli, started.value, () => {
    reload(cli, flags, [started.value, cluster, time]);
    void reloadTokens(cli, flags, [cluster, time]).then(
      (text) => text === undefined || say(cli, "cluster-tokens", text),
    );
  });
  book?.close();
  return ok("Ok");
}

/** Serve until a signal, then finish what is in progress. */
async function untilStopped(cli: Cli, server: GossipServer, onHangUp: () => void): Promise<void> {
  const stopListening: (() => void)[] = [];
  await new Promise<void>((stop) => {
    let isStopping = false;
    const onStop = (): void => {
      if (isStopping) return cli.exitNow("Terminated");
      isStopping = true;
      say(cli, "draining", "finishing what is in progress");
      stop();
    };
    stopListening.push(
      cli.onSignal("SIGINT", onStop),
      cli.onSignal("SIGTERM", onStop),
      cli.onSignal("SIGHUP", onHangUp),
    );
    // A supervisor may send a signal as soon as it reads this.
    say(cli, "listening", server.url);
  });
  await server.drain({ graceMs: GRACE_MS });
  for (const each of stopListening) each();
}

/** Appends lines to the audit file. A line that cannot be written is reported: the call was executed. */
function openAudit(cli: Cli, file: string | undefined): Result<ServerOptions["audit"], CliError> {
  if (file === undefined) return ok(undefined);
  const path = resolve(cli.cwd, file);
  const append = (text: string): string | undefined => {
    try {
      appendFileSync(path, text);
      return undefined;
    } catch (thrown) {
      return (thrown as NodeJS.ErrnoException).code ?? "UNKNOWN";
    }
  };
  const refused = append("");
  if (refused !== undefined) return fail("BadCommandLine", `the file of --audit cannot be written (${refused}).`);
  return ok((entry) => {
    const code = append(`${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
    if (code !== undefined) say(cli, "audit", `cannot be written (${code}): ${entry.operation} is not in the log`);
  });
}

interface UsesTls {
  reloadTls?(tls: TlsFiles): void;
}

function reload(cli: Cli, flags: ServeFlags, users: readonly (UsesTls | undefined)[]): void {
  const tls = readTls(cli, flags);
  if (!tls.ok) return say(cli, "certificates", "cannot be used: the old ones stay");
  if (tls.value !== undefined) for (const user of users) user?.reloadTls?.(tls.value);
  say(cli, "certificates", "read again");
}

function say({ console }: Cli, kind: string, text: string): void {
  if (console.isJson) console.json({ kind, text });
  else console.line(`${kind} ${text}`);
}

/** How long a node waits for the time before it answers 503. */
const CLOCK_PATIENCE_MS = 2_000;

async function openTime(cli: Cli, flags: ServeFlags, where: ClockOptions): Promise<Result<NodeClock, CliError>> {
  const opened = await openAnyTime(cli, flags, where);
  if (!opened.ok) return opened;
  const { patientClock } = await import("@gossip/server");
  return ok({ ...opened.value, clock: patientClock(opened.value.clock, CLOCK_PATIENCE_MS) });
}

interface ClockOptions {
  readonly address: DirectAddress;
  readonly tso: OracleAddress | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: TlsFiles | undefined;
  /** This node's address in the cluster file. */
  readonly advertised: string | undefined;
}

async function openAnyTime(
  cli: Cli,
  { clock: folder, tsoListen, clusterToken }: ServeFlags,
  { address, tso, listen, tls, advertised }: ClockOptions,
): Promise<Result<NodeClock, CliError>> {
  if (tso === undefined) return openNodeClock(address, folder === undefined ? undefined : resolve(cli.cwd, folder));
  const { text } = tso;
  if (/^etcds?:\/\//.test(text)) {
    const own = tsoListen === undefined ? ok({ host: listen.host, port: listen.port + 1 }) : parseListen(tsoListen);
    const endpoint = advertised === undefined ? undefined : parseListen(advertised);
    const advertisedHost = endpoint?.ok === true ? endpoint.value.host : undefined;
    return own.ok ? openEtcdClock(cli, { etcd: text, listen: own.value, advertisedHost, tls, clusterToken }) : own;
  }
  const connected = await connectOracle(text, cli);
  return connected.ok ? ok(await clockOfClient(connected.value.client)) : connected;
}

function refuse(error: ServeError, listen: string): Result<never, CliError> {
  return error.kind === "NeedsAuthentication"
    ? fail(
        "BadCommandLine",
        `--listen ${listen} can be reached by other machines: give --tokens FILE, or listen at 127.0.0.1.`,
      )
    : fail(
        "NotAllowed",
        `the port of --listen ${listen} cannot be used (${error.code}): see that nothing else listens there.`,
      );
}

function parseListen(text: string): Result<{ readonly host: string; readonly port: number }, CliError> {
  const [, bracketed, plain, port = ""] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    return fail("BadCommandLine", "--listen is no address: write HOST:PORT, such as 127.0.0.1:7711.");
  return ok({ host, port: Number(port) });
}

function readTls({ cwd }: Cli, { tlsCert, tlsKey, tlsClientCa }: ServeFlags): Result<TlsFiles | undefined, CliError> {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return ok(undefined);
  if (tlsCert === undefined || tlsKey === undefined)
    return fail("BadCommandLine", "TLS needs a certificate and its key: give --tls-cert and --tls-key.");
  let files: TlsFiles;
  try {
    const read = (file: string): Buffer => readFileSync(resolve(cwd, file));
    files = {
      cert: read(tlsCert),
      key: read(tlsKey),
      ca: tlsClientCa === undefined ? undefined : read(tlsClientCa),
    };
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return fail("BadCommandLine", `a file of --tls-cert, --tls-key or --tls-client-ca cannot be read (${code}).`);
  }
  try {
    createSecureContext({ cert: files.cert, key: files.key, ...(files.ca === undefined ? {} : { ca: files.ca }) });
    return ok(files);
  } catch {
    return fail(
      "BadCommandLine",
      "--tls-cert, --tls-key and --tls-client-ca cannot be used together: see that each is PEM, and that the key is that of the certificate.",
    );
  }
}
