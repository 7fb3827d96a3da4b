// A real Redis on loopback that syncs its log before it answers. The binary comes from the system's packages.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "./engine-process.ts";
import { freePort } from "./free-port.ts";

export interface RedisServer {
  readonly port: number;
  readonly pid: number;
  dispose(): Promise<void>;
}

/** Why there is no Redis here; `undefined` if there is. */
export function redisMissing(): string | undefined {
  if (spawnSync("redis-server", ["--version"]).status === 0) return undefined;
  return "redis-server is not installed (Debian: apt-get install redis-server)";
}

/** Start a server with empty data in a temporary folder. What it has answered survives a loss of power, as with our stores. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-redis-"));
  const port = await freePort();
  const args = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--daemonize",
    "no",
  ];
  const server = await startProcess({ file: "redis-server", args, readyWhen: /Ready to accept connections/ });
  return {
    port,
    pid: server.pid,
    dispose: async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
