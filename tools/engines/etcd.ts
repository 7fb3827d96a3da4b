// A real etcd on loopback. The binary comes from the system's packages; `.ci/run` installs it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, type EngineProcess } from "./engine-process.ts";
import { makeCertificates, opensslMissing } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { skippedFor } from "./skipped-for.ts";

export interface EtcdServer {
  readonly endpoint: string;
  /** Where it serves over TLS. */
  readonly certificates: EtcdCertificates | undefined;
  readonly pid: number;
  kill(): Promise<void>;
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

/** Why etcd tests cannot run here; `undefined` if they can. */
export function etcdMissing(): string | undefined {
  if (spawnSync("etcd", ["--version"]).status === 0) return undefined;
  return "etcd is not installed (Debian: apt-get install etcd-server)";
}

/** Why tests against etcd are skipped here, printed as a warning; `undefined` if they run. */
export function etcdSkipped(): string | undefined {
  return skippedFor(etcdMissing());
}

export interface EtcdServerOptions {
  /** Serve over TLS, with a certificate of a temporary authority; `"Mutual"` also asks clients for one of its certificates. */
  readonly tls?: "Server" | "Mutual";
}

/** Files that `startEtcd` made for a server over TLS: PEM, of one authority. */
export interface EtcdCertificates {
  readonly ca: string;
  /** For clients. */
  readonly cert: string;
  readonly key: string;
}

/** Start one node with empty data in a temporary folder. */
export async function startEtcd(
  extraArgs: readonly string[] = [],
  { tls }: EtcdServerOptions = {},
): Promise<EtcdServer> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-etcd-"));
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const made = tls === undefined ? undefined : makeCertificates(folder);
  const endpoint = `${tls === undefined ? "http" : "https"}://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const args = [
    "--name=gossip",
    `--data-dir=${join(folder, "data")}`,
    "--logger=zap",
    "--log-level=info",
    `--listen-client-urls=${endpoint}`,
    `--advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=gossip=${peer}`,
    ...(made === undefined ? [] : [`--cert-file=${made.server.cert}`, `--key-file=${made.server.key}`]),
    ...(made === undefined || tls !== "Mutual" ? [] : ["--client-cert-auth", `--trusted-ca-file=${made.ca}`]),
    ...extraArgs,
  ];
  const start = (): Promise<EngineProcess> =>
    startProcess({
      file: "etcd",
      args,
      env: { ETCD_UNSUPPORTED_ARCH: process.arch },
      readyWhen: /serving insecure client requests|serving client traffic|ready to serve client requests/,
    });
  let server = await start();
  return {
    endpoint,
    certificates: made && { ca: read(made.ca), cert: read(made.client.cert), key: read(made.client.key) },
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      server = await start();
    },
    dispose: async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Why tests against an etcd that serves over TLS are skipped here, printed as a warning; `undefined` if they run. */
export function etcdTlsSkipped(): string | undefined {
  return skippedFor(etcdMissing() ?? opensslMissing());
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}
