import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { TlsFiles } from "@gossip/server";
import { ok, type Result } from "@gossip/stdx";
import type { Cli } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { clockOfClient, type NodeClock } from "./node-clock.ts";

interface EtcdClockOptions {
  /** As in `--tso etcd://…` or `etcds://…`, with commas between several servers. */
  readonly etcd: string;
  /** Where the oracle of this node listens. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The host where other nodes reach it, if it listens at every address of this machine. */
  readonly advertisedHost: string | undefined;
  /** The certificates of this node. The oracles then speak TLS with each other. */
  readonly tls: TlsFiles | undefined;
  /** The file with the cluster's token, which the oracles ask each other for. */
  readonly clusterToken: string | undefined;
}

/**
 * The clock of one of several nodes: each runs an oracle, the oracles elect a leader in etcd, and every node takes its time
 * from the leader. If the leader ends, another one goes on above its last timestamp.
 */
export async function openEtcdClock(
  cli: Cli,
  { etcd, listen, advertisedHost, tls, clusterToken }: EtcdClockOptions,
): Promise<Result<NodeClock, CliError>> {
  const { EtcdDriver, OracleServer, PeerEndpoint, TimestampClient, hashToken } = await import("@gossip/tso-server");
  const { parseEtcdFlags, readEtcdSettings } = await import("@gossip/tso-server/internal");
  const settings = parseEtcdFlags({ etcd: toUrls(etcd) });
  const connection = settings.ok ? await readEtcdSettings(settings.value, cli) : settings;
  if (!connection.ok) return fail("BadCommandLine", connection.error.message.replaceAll("--etcd", "--tso"));
  const host = EVERY_ADDRESS.has(listen.host) ? (advertisedHost ?? listen.host) : listen.host;
  const own = `${host.includes(":") ? `[${host}]` : host}:${listen.port}`;
  const advertise = PeerEndpoint.parse(own);
  if (!advertise.ok) return fail("BadCommandLine", "--tso-listen is no address: write HOST:PORT.");
  const tokens = await readTokens(cli, clusterToken);
  const driver = new EtcdDriver({ ...connection.value, advertise: advertise.value });
  const started = await OracleServer.start({
    driver,
    listen: [listen],
    ...(tokens === undefined ? {} : { tokens: tokens.map(hashToken) }),
    ...(tls === undefined ? {} : { tls: withoutMissing(tls) }),
  });
  if (!started.ok) {
    await driver.close();
    return fail("NotAllowed", `the oracle of this node cannot listen at ${own}: give --tso-listen another port.`);
  }
  const client = TimestampClient.create({
    endpoints: [own],
    ...(tokens === undefined ? {} : { token: tokens[0]! }),
    ...(tls === undefined ? {} : { tls: withoutMissing(tls) }),
  });
  if (!client.ok) return fail("BadCommandLine", "--tso-listen is no address: write HOST:PORT.");
  const clock = await clockOfClient(client.value);
  return ok({
    ...clock,
    reloadTls: (renewed) => {
      started.value.reloadTls(withoutMissing(renewed));
      client.value.reloadTls(withoutMissing(renewed));
    },
    reloadTokens: (renewed) => {
      // Without a token from the start, the nodes ask each other for none.
      if (tokens === undefined) return;
      started.value.reloadTokens(renewed.map(hashToken));
      client.value.reloadToken(renewed[0]!);
    },
    close: async () => {
      await clock.close();
      void (await started.value.shutdown());
      await driver.close();
    },
  });
}

/** A node at one of these addresses can be reached at any address of its machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function withoutMissing({ cert, key, ca }: TlsFiles) {
  return ca === undefined ? { cert, key } : { cert, key, ca };
}

/** `etcd://a:1,b:2` as the URLs that etcd's flags take. */
function toUrls(etcd: string): string {
  const scheme = etcd.startsWith("etcds:") ? "https" : "http";
  const [hosts = "", query] = etcd.replace(/^etcds?:\/\//, "").split("?", 2);
  return hosts
    .split(",")
    .map((host) => `${scheme}://${host.replace(/\/$/, "")}${query === undefined ? "" : `/?${query}`}`)
    .join(",");
}

/** The tokens of the nodes. Whether the file is right is checked where the cluster is opened. */
async function readTokens({ cwd }: Cli, file: string | undefined): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const { parseClusterTokens } = await import("@gossip/server");
  try {
    return parseClusterTokens(await readFile(resolve(cwd, file), "utf8"));
  } catch {
    return undefined;
  }
}
