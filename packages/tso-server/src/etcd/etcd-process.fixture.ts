// A real etcd on loopback, for tests: its own ports, its own temporary data, gone when the test is.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdSkipped, freePort } from "@gossip/tools/engines";
import type { TestContext } from "vitest";

const SKIPPED = etcdSkipped();

/** Fast elections, so that leases of a second are allowed: etcd insists on more than one and a half election timeouts. */
const PACE = ["--heartbeat-interval", "50", "--election-timeout", "500"];

/** Skip a test that needs etcd where there is none, and say so; fail it where engines are required. */
export function requireEtcd(context: TestContext): void {
  if (SKIPPED !== undefined) context.skip(SKIPPED);
}

export class EtcdProcess {
  readonly endpoint: string;
  readonly #args: readonly string[];
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(endpoint: string, args: readonly string[], folder: string) {
    this.endpoint = endpoint;
    this.#args = args;
    this.#folder = folder;
  }

  static async start(): Promise<EtcdProcess> {
    const folder = await mkdtemp(join(tmpdir(), "tso-etcd-"));
    const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    const urls = ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer];
    const args = ["--name", "one", "--data-dir", join(folder, "data"), "--initial-cluster", `one=${peer}`, ...urls, ...PACE];
    const etcd = new EtcdProcess(client, args, folder);
    await etcd.restart();
    return etcd;
  }

  /** Start it again on the same data, after `kill`. */
  async restart(): Promise<void> {
    const child = spawn("etcd", this.#args, { stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    let log = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-10_000);
        if (log.includes("ready to serve client requests") || log.includes("serving insecure client requests")) resolve();
      });
      child.once("error", reject);
      child.once("close", () => reject(new Error(`etcd ended before it was ready:\n${log}`)));
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
