// graphile-worker with its local queue, which needs a newer Node than we ask for: it runs in a process of its own, on a Node from npm where
// this one is too old. Both are fetched when they are first needed, outside of the workspace.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JOBS, WORKERS } from "./sizes.ts";

const VERSION = "0.18.0";
const NODE_VERSION = "24.21.0";
const OLDEST_NODE = [22, 18] as const;
const FOLDER = fileURLToPath(new URL(`../../../.cache/peers/graphile-worker-${VERSION}`, import.meta.url));
const CHILD = fileURLToPath(new URL("./graphile-child.mjs", import.meta.url));

interface Fetched {
  readonly node: string;
  readonly folder: string;
}

/** Fetch it, or say why that cannot be. */
export function fetchGraphile(): Fetched | string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const nodePackage = `node-${platform()}-${arch()}`;
  const node = isNewEnough ? process.execPath : join(FOLDER, "node_modules", nodePackage, "bin/node");
  if (existsSync(join(FOLDER, "node_modules/graphile-worker")) && existsSync(node)) return { node, folder: FOLDER };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), '{ "private": true }');
  const wanted = [`graphile-worker@${VERSION}`, ...(isNewEnough ? [] : [`${nodePackage}@${NODE_VERSION}`])];
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--engine-strict=false", ...wanted], {
    cwd: FOLDER,
    encoding: "utf8",
  });
  if (installed.status === 0 && existsSync(node)) return { node, folder: FOLDER };
  return `graphile-worker ${VERSION} cannot be installed here: ${installed.stderr.trim().split("\n").at(-1) ?? "npm failed"}`;
}

export class GraphileJobs {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(url: string, { node, folder }: Fetched): Promise<GraphileJobs> {
    const config = JSON.stringify({ url, folder, jobs: JOBS, workers: WORKERS });
    const child = spawn(node, [CHILD, config], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const jobs = new GraphileJobs(child);
    await jobs.#answer();
    return jobs;
  }

  prepare(): Promise<void> {
    return this.#ask("prepare");
  }

  drain(): Promise<void> {
    return this.#ask("drain");
  }

  async close(): Promise<void> {
    await this.#ask("close");
    this.#child.disconnect();
  }

  #ask(what: string): Promise<void> {
    const answer = this.#answer();
    this.#child.send(what);
    return answer;
  }

  #answer(): Promise<void> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error("the process with graphile-worker has ended"));
      this.#child.once("exit", onExit);
      this.#child.once("message", () => {
        this.#child.off("exit", onExit);
        resolve();
      });
    });
  }
}
