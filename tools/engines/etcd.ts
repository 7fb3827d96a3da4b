// A real etcd on loopback. The binary comes from the system's packages; `.ci/run` installs it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, type EngineProcess } from "./engine-process.ts";
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

/** Why etcd tests cannot run here; `undefined` where they can. */
export function etcdMissing(): string | undefined {
  if (spawnSync("etcd", ["--version"]).status === 0) return undefined;
  return "etcd is not installed (Debian: apt-get install etcd-server)";
}

/** Why tests against etcd are skipped here, said aloud; `undefined` where they run. */
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

/** Why tests against an etcd that serves over TLS are skipped here, said aloud; `undefined` where they run. */
export function etcdTlsSkipped(): string | undefined {
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  return skippedFor(
    etcdMissing() ?? (hasOpenssl ? undefined : "openssl is not installed (Debian: apt-get install openssl)"),
  );
}

interface PemFiles {
  readonly cert: string;
  readonly key: string;
}

/** An authority, and a certificate of it for the server and one for clients. */
function makeCertificates(folder: string): {
  readonly ca: string;
  readonly server: PemFiles;
  readonly client: PemFiles;
} {
  const file = (name: string): string => join(folder, name);
  openssl([
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=gossip test authority",
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
  ]);
  // etcd's gateway calls its own server, with the server's certificate: so that must do for a client, too.
  writeFileSync(
    file("extensions"),
    "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n",
  );
  const issue = (name: string): PemFiles => {
    const pair = { cert: file(`${name}.pem`), key: file(`${name}.key`) };
    openssl([
      "req",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      pair.key,
      "-out",
      file(`${name}.csr`),
    ]);
    openssl([
      "x509",
      "-req",
      "-days",
      "2",
      "-in",
      file(`${name}.csr`),
      "-CA",
      file("ca.pem"),
      "-CAkey",
      file("ca.key"),
      "-CAcreateserial",
      "-extfile",
      file("extensions"),
      "-out",
      pair.cert,
    ]);
    return pair;
  };
  return { ca: file("ca.pem"), server: issue("server"), client: issue("client") };
}

function openssl(args: readonly string[]): void {
  const done = spawnSync("openssl", args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`openssl failed: ${done.stderr}`);
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}
