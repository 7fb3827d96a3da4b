import { err, ok, type Result } from "@gossip/stdx";
import type { ConsensusDriver, FileOpenError, ListenAddress, OracleServer } from "@gossip/tso-server";
import type { EtcdFlags, ServerFlags } from "@gossip/tso-server/internal";
import { fail, type CliError } from "../output/cli-error.ts";
import { printableText } from "../output/printable.ts";
import { makeFolder } from "../store-url/make-folder.ts";

export interface OracleFlags extends Partial<EtcdFlags>, ServerFlags {
  /** An absolute path. */
  readonly data?: string;
  readonly listen: string;
  readonly http: string;
}

/** What the files and the password of the flags are read from. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface OpenedOracle {
  readonly server: OracleServer;
  /** Read certificates and tokens again. Resolves with what to say about it. */
  readonly reload: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Start an oracle, and print where it listens and whether it leads. */
export async function openOracle(
  flags: OracleFlags,
  surroundings: Surroundings,
  say: (kind: string, text: string) => void,
): Promise<Result<OpenedOracle, CliError>> {
  const listen = parseAddress(flags.listen, "--listen");
  if (!listen.ok) return listen;
  const http = flags.http === "off" ? ok(undefined) : parseAddress(flags.http, "--http");
  if (!http.ok) return http;
  const { readServerFlags, reloadServer } = await import("@gossip/tso-server/internal");
  const security = await readServerFlags(flags, surroundings);
  if (!security.ok) return fail("BadCommandLine", security.error.message);
  const opened = await openDriver(flags, listen.value, surroundings, say);
  if (!opened.ok) return opened;
  const driver = opened.value;
  const { OracleServer: Server } = await import("@gossip/tso-server");
  const started = await Server.start({
    driver,
    ...security.value,
    listen: [listen.value],
    ...(http.value === undefined ? {} : { http: http.value }),
    onEvent: ({ kind }) => say("event", kind),
  });
  if (!started.ok) {
    await driver.close();
    return fail(
      "StoreFailed",
      `the oracle cannot start (${started.error.kind}${"code" in started.error ? `, ${String(started.error.code)}` : ""}): see that nothing else listens at ${flags.listen}${flags.http === "off" ? "" : ` or ${flags.http}`}.`,
    );
  }
  const server = started.value;
  for (const address of server.addresses) say("listening", address);
  if (server.httpAddress !== undefined) say("http", server.httpAddress);
  const tell = (): void =>
    say(
      server.oracle.state.kind === "Serving" ? "serving" : "standby",
      server.oracle.state.kind === "Serving"
        ? `epoch ${server.oracle.state.epoch}`
        : `leader ${server.oracle.state.leaderEndpoint ?? "unknown"}`,
    );
  server.oracle.subscribe(tell);
  tell();
  const reload = async (): Promise<string> => {
    const reloaded = await reloadServer(server, flags, surroundings);
    return reloaded.ok ? "certificates and tokens are read again" : `nothing is changed: ${reloaded.error.message}`;
  };
  return ok({ server, reload, close: () => driver.close() });
}

async function openDriver(
  { data, etcd, ...flags }: OracleFlags,
  listen: { readonly host: string; readonly port: number },
  surroundings: Surroundings,
  say: (kind: string, text: string) => void,
): Promise<Result<ConsensusDriver, CliError>> {
  if ((data === undefined) === (etcd === undefined))
    return fail("BadCommandLine", "tso serve needs either --data FOLDER or --etcd URL: give one of them.");
  const { EtcdDriver, FileDriver, PeerEndpoint } = await import("@gossip/tso-server");
  if (data !== undefined) {
    const refused = await makeFolder(data);
    if (refused !== undefined) return err(folderSentence({ kind: "Io", path: data, code: refused }, data));
    const opened = await FileDriver.open({ directory: data });
    return opened.ok ? opened : err(folderSentence(opened.error, data));
  }
  const { parseEtcdFlags, readEtcdSettings } = await import("@gossip/tso-server/internal");
  const settings = parseEtcdFlags({ ...flags, etcd: etcd! });
  if (!settings.ok) return fail("BadCommandLine", settings.error.message);
  const connection = await readEtcdSettings(settings.value, surroundings);
  if (!connection.ok) return fail("BadCommandLine", connection.error.message);
  const advertise = PeerEndpoint.parse(`${listen.host}:${listen.port}`);
  const onFailure = (reason: string): void => say("event", `etcd failed: ${printableText(reason)}`);
  return ok(
    new EtcdDriver({ ...connection.value, onFailure, ...(advertise.ok ? { advertise: advertise.value } : {}) }),
  );
}

function folderSentence(error: FileOpenError, folder: string): CliError {
  const where = printableText(folder);
  switch (error.kind) {
    case "AlreadyLocked":
      return {
        kind: "NotAllowed",
        message: `another oracle serves from ${where}: there can be one a folder; use that one.`,
      };
    case "LockUnsupported":
      return {
        kind: "StoreFailed",
        message: `the file system of ${where} has no locks: use a folder on a local disk.`,
      };
    case "CorruptState":
      return {
        kind: "StoreDamaged",
        message: `what is in ${where} is no state of an oracle (${error.flaw.kind}): name another folder, or start one above the old time with gossip-tso init.`,
      };
    case "Io":
      return {
        kind: "StoreNotWritable",
        message: `the folder ${where} cannot be used${error.code === undefined ? "" : ` (${String(error.code)})`}: give this user the right to write there.`,
      };
  }
}

function parseAddress(
  text: string,
  option: string,
): Result<ListenAddress & { readonly host: string; readonly port: number }, CliError> {
  const [, bracketed, plain, port = ""] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    return fail("BadCommandLine", `${option} is no address: write HOST:PORT, such as 127.0.0.1:50551.`);
  return ok({ host, port: Number(port) });
}
