// Starts and stops the process of a node, for benches and tests.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryReport, NodeAddresses } from "./service-node.fixture.ts";

const REGISTER = new URL("../../../../tools/ts/register.mjs", import.meta.url).href;

export class ServiceProcess {
  readonly url: string;
  readonly emptyUrl: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  static async start(): Promise<ServiceProcess> {
    const folder = await mkdtemp(join(tmpdir(), "gossip-service-node-"));
    const child = fork(new URL("./service-node.fixture.ts", import.meta.url), [join(folder, "store")], {
      // The same memory settings as this process has: what is compared must differ in nothing else.
      execArgv: [...memoryFlags(), "--expose-gc", `--import=${REGISTER}`, ...conditions()],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    const [addresses] = (await once(child, "message")) as [NodeAddresses];
    return new ServiceProcess(child, folder, addresses);
  }

  private constructor(child: ChildProcess, folder: string, { url, emptyUrl }: NodeAddresses) {
    this.#child = child;
    this.#folder = folder;
    this.url = url;
    this.emptyUrl = emptyUrl;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The memory of the process, after a garbage collection. */
  memory(): Promise<MemoryReport> {
    return this.#ask("memory");
  }

  /** Settles when so many claims wait. */
  async untilWaiting(count: number): Promise<void> {
    while ((await this.#ask("waiting")).waiting < count);
  }

  async #ask(what: "memory" | "waiting"): Promise<MemoryReport> {
    this.#child.send(what);
    const [report] = (await once(this.#child, "message")) as [MemoryReport];
    return report;
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function memoryFlags(): string[] {
  return process.execArgv.filter((arg) => arg.includes("semi-space"));
}

/** Tests run on sources, benches on what was built. */
function conditions(): string[] {
  const isBench =
    process.execArgv.every((arg) => !arg.includes("@gossip/source")) && process.env["VITEST"] === undefined;
  return isBench ? [] : ["--conditions=@gossip/source"];
}
