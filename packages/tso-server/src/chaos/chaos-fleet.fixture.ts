// Servers and clients of the chaos test, as real processes, and what their clients wrote down.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@gossip/tools/engines";
import { Timestamp } from "@gossip/tso";
import type { Bundle } from "../processes/bundle.fixture.ts";
import { BundledProcess } from "../processes/bundled-process.fixture.ts";
import { findOrderViolations, type IssueRecord, type OrderViolation } from "../testing/interval-order.ts";
import { RECORD_SIZE, type ChaosClientOptions } from "./chaos-client-record.fixture.ts";
import type { ChaosServerOptions, Tampering } from "./chaos-server.fixture.ts";

/** Longest wait for anything to happen. Never reached unless something is broken. */
const PATIENCE_MS = 60_000;

export interface FleetOptions {
  readonly server: Bundle;
  readonly client: Bundle;
  readonly folder: string;
  readonly servers: number;
  readonly store: ChaosServerOptions["store"];
  readonly windowAheadMs: number;
  readonly ignoresDeadline?: boolean;
  /** How long each client waits for one answer: some give up on a stopped leader at once, some never do. */
  readonly attemptMs: readonly number[];
}

export interface ChaosReport {
  readonly issued: number;
  readonly calls: number;
  readonly failedCalls: Readonly<Record<string, number>>;
  readonly failovers: number;
  readonly longestGapMs: number;
  readonly violations: readonly OrderViolation[];
}

/** A server that is killed and started again, always on the same port. */
export class ChaosNode {
  readonly port: number;
  readonly #start: () => BundledProcess;
  #process: BundledProcess;

  constructor(port: number, start: () => BundledProcess) {
    this.port = port;
    this.#start = start;
    this.#process = start();
  }

  get process(): BundledProcess {
    return this.#process;
  }

  /** Whether the last thing it said is that it serves. */
  get isServing(): boolean {
    const said = this.#process.lines.findLast((line) => line.startsWith("serving") || line === "idle");
    return !this.#process.hasExited && (said?.startsWith("serving") ?? false);
  }

  restart(): void {
    this.#process = this.#start();
  }

  tamper(tampering: Tampering): void {
    this.#process.send(tampering);
  }
}

export class ChaosFleet {
  readonly nodes: readonly ChaosNode[];
  readonly #clients: readonly { readonly process: BundledProcess; readonly outPath: string }[];
  readonly #epochs = new Set<string>();
  #starts = 0;

  private constructor(
    nodes: readonly ChaosNode[],
    clients: readonly { readonly process: BundledProcess; readonly outPath: string }[],
  ) {
    this.nodes = nodes;
    this.#clients = clients;
  }

  static async start(options: FleetOptions): Promise<ChaosFleet> {
    const { server, client, folder, store, windowAheadMs, ignoresDeadline = false, attemptMs } = options;
    const ports: number[] = [];
    for (let index = 0; index < options.servers; index++) ports.push(await freePort());
    const nodes = ports.map((port) => {
      const given: ChaosServerOptions = { port, store, windowAheadMs, ignoresDeadline };
      return new ChaosNode(port, () => new BundledProcess(server, [JSON.stringify(given)]));
    });
    const endpoints = ports.map((port) => `127.0.0.1:${port}`);
    const clients = attemptMs.map((each, index) => {
      const outPath = join(folder, `client-${index}`);
      const given: ChaosClientOptions = { endpoints, attemptMs: each, outPath };
      return { process: new BundledProcess(client, [JSON.stringify(given)]), outPath };
    });
    return new ChaosFleet(nodes, clients);
  }

  /** The node that serves, once one does that is not among `except`. */
  async leader(except: readonly ChaosNode[] = []): Promise<ChaosNode> {
    for (;;) {
      const found = this.nodes.find((node) => node.isServing && !except.includes(node));
      if (found !== undefined) {
        this.#epochs.add(
          `${found.process.child.pid} ${found.process.lines.findLast((line) => line.startsWith("serving"))}`,
        );
        return found;
      }
      await this.#news(except);
    }
  }

  /** Resolves when every client has received so many more answers. */
  async progress(answers: number): Promise<void> {
    const before = await this.#received();
    const giveUpAtMs = performance.now() + PATIENCE_MS;
    while ((await this.#received()).some((received, index) => received < before[index]! + answers)) {
      if (performance.now() > giveUpAtMs)
        throw new Error(`a client stands still: ${this.#clients.map(({ process }) => process.stderr).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  noteStart(): void {
    this.#starts += 1;
  }

  /** Let the clients finish, and look at everything that they saw. */
  async finish(): Promise<ChaosReport> {
    const records: IssueRecord[] = [];
    const failedCalls: Record<string, number> = {};
    for (const { process } of this.#clients) process.send({ stop: true });
    for (const { process, outPath } of this.#clients) {
      const failures = JSON.parse((await process.line("done ")).slice("done ".length)) as Record<string, number>;
      for (const [kind, count] of Object.entries(failures)) failedCalls[kind] = (failedCalls[kind] ?? 0) + count;
      records.push(...decode(await readFile(outPath)));
    }
    return {
      issued: records.reduce((sum, { first, last }) => sum + Number(last - first) + 1, 0),
      calls: records.length,
      failedCalls,
      failovers: Math.max(this.#epochs.size - 1, this.#starts),
      longestGapMs: longestGap(records) / 1e6,
      violations: findOrderViolations(records),
    };
  }

  async dispose(): Promise<void> {
    await Promise.all(
      [...this.nodes.map((node) => node.process), ...this.#clients.map(({ process }) => process)].map((process) =>
        process.kill(),
      ),
    );
  }

  async #received(): Promise<number[]> {
    return Promise.all(
      this.#clients.map(async ({ outPath }) => (await stat(outPath).catch(() => ({ size: 0 }))).size / RECORD_SIZE),
    );
  }

  /** Resolves when a node says something. */
  async #news(except: readonly ChaosNode[]): Promise<void> {
    const running = this.nodes.filter((node) => !except.includes(node) && !node.process.hasExited);
    if (running.length === 0)
      throw new Error(`no server is left: ${this.nodes.map((node) => node.process.stderr).join("\n")}`);
    await Promise.race(running.map((node) => node.process.news()));
  }
}

function decode(bytes: Buffer): IssueRecord[] {
  const records: IssueRecord[] = [];
  for (let at = 0; at + RECORD_SIZE <= bytes.length; at += RECORD_SIZE) {
    records.push({
      sentAt: Number(bytes.readBigUInt64LE(at)),
      receivedAt: Number(bytes.readBigUInt64LE(at + 8)),
      first: Timestamp.fromRaw(bytes.readBigUInt64LE(at + 16)),
      last: Timestamp.fromRaw(bytes.readBigUInt64LE(at + 24)),
    });
  }
  return records;
}

/** The longest time in which no client received anything. */
function longestGap(records: readonly IssueRecord[]): number {
  const times = records.map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b);
  return times.reduce((longest, time, index) => Math.max(longest, time - (times[index - 1] ?? time)), 0);
}
