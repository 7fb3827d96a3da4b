// A real etcd on loopback. The binary comes from the system's packages; `.ci/run` installs it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, type EngineProcess } from "./engine-process.ts";
import { freePort } from "./free-port.ts";

export interface EtcdServer {
  readonly endpoint: string;
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

/** Start one node with empty data in a temporary folder. */
export async function startEtcd(extraArgs: readonly string[] = []): Promise<EtcdServer> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-etcd-"));
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const endpoint = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const args = [
    "--name=gossip", `--data-dir=${join(folder, "data")}`, "--logger=zap", "--log-level=info",
    `--listen-client-urls=${endpoint}`, `--advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=gossip=${peer}`, ...extraArgs,
  ];
  const start = (): Promise<EngineProcess> => startProcess({ file: "etcd", args, env: { ETCD_UNSUPPORTED_ARCH: process.arch }, readyWhen: /serving insecure client requests|serving client traffic|ready to serve client requests/ });
  let server = await start();
  return {
    endpoint,
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
