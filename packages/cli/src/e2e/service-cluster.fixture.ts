// A cluster of real processes: an oracle, three nodes on one store, and what asks them all the time.
import { ClusterAdmin } from "@gossip/client";
import { decodeJournal } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import { freePort } from "@gossip/tools/engines";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";

export const NODES = ["a", "b", "c"] as const;
export type NodeName = (typeof NODES)[number];

const SHIFTED_CLOCK = fileURLToPath(new URL("shifted-clock.fixture.mjs", import.meta.url));
/** How far the wall clocks of the nodes are off. That of c is right until it is stepped. */
const SHIFT_MS: Readonly<Record<NodeName, number>> = { a: 0, b: 7 * 60_000, c: -11 * 60_000 };

export class ServiceCluster {
  readonly #folder: string;
  readonly #store: (name: NodeName) => string;
  readonly #ports = new Map<NodeName, number>();
  readonly #processes = new Map<string, GossipProcess>();
  #tso = "";

  /** `store` is what each node is given with `--store`. */
  constructor(folder: string, store: (name: NodeName) => string) {
    this.#folder = folder;
    this.#store = store;
  }

  /** `hasFallback`: b takes t/3 over if c is declared down. */
  async start({ hasFallback = false }: { readonly hasFallback?: boolean } = {}): Promise<void> {
    for (const name of NODES) this.#ports.set(name, await freePort());
    const nodes = NODES.map((name) => `[[cluster.node]]\nname = "${name}"\naddress = "${this.#address(name)}"\n`);
    const owners = { "t/1": "a", "t/2": "b", "t/3": "c" };
    const scopes = Object.entries(owners).map(
      ([prefix, writer]) => `[[cluster.scope]]\nprefix = "${prefix}"\nwriter = "${writer}"\n`,
    );
    // Of the last scope.
    const fallback = hasFallback ? 'fallback = "b"\n' : "";
    writeFileSync(join(this.#folder, "cluster.toml"), [...nodes, ...scopes, fallback].join(""));
    this.#tso = `127.0.0.1:${await freePort()}`;
    const oracle = await startGossip(["tso", "serve", "--data", "tso", "--listen", this.#tso, "--http", "off"], {
      cwd: this.#folder,
    });
    this.#processes.set("tso", oracle);
    await oracle.heard(/^serving/m);
    await Promise.all(NODES.map((name) => this.startNode(name)));
  }

  async startNode(name: NodeName): Promise<void> {
    const node = await startGossip(
      [
        "serve",
        "--store",
        this.#store(name),
        ..."--cluster cluster.toml".split(" "),
        ...`--tso ${this.#tso} --node ${name} --cluster-state state-${name}`.split(" "),
      ],
      {
        cwd: this.#folder,
        env: {
          NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
          SHIFT_MS: String(SHIFT_MS[name]),
          ...(name === "c" ? { STEP_FILE: join(this.#folder, "step") } : {}),
        },
      },
    );
    this.#processes.set(name, node);
    if (!(await node.heard(/^listening/m))) throw new Error(`node ${name} did not start: ${node.stderr}`);
  }

  async killNode(name: NodeName): Promise<void> {
    await this.#processes.get(name)!.kill();
  }

  /** Stop a node in the middle of what it does, without its connections being closed, or let it go on. */
  freeze(name: NodeName, isFrozen: boolean): void {
    this.#processes.get(name)!.signal(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  /** Step the wall clock of node c by minutes. */
  stepClock(): void {
    writeFileSync(join(this.#folder, "step"), "");
  }

  url(name: NodeName): string {
    return `http://${this.#address(name)}`;
  }

  /** Move a scope, and repeat the command until its outcome is known. */
  async move(id: string, { prefix, to, at }: { prefix: string; to: NodeName; at: NodeName }): Promise<string> {
    for (;;) {
      const admin = new ClusterAdmin({
        url: this.url(at),
        otherUrls: NODES.map((name) => this.url(name)),
        patienceMs: 30_000,
      });
      try {
        const moved = await admin.moveScope({ id, prefix, to, timeoutMs: 20_000 });
        if (moved.ok && moved.value.outcome !== "Pending") return moved.value.outcome;
      } catch (thrown) {
        // A target that is being restarted is refused before anything is quiesced.
        if (!(thrown instanceof Error) || !thrown.message.includes("does not answer")) throw thrown;
      } finally {
        admin.close();
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** What each node that answers says of each scope, with its epoch. */
  async states(): Promise<Map<string, { readonly epoch: number; readonly owned: readonly string[] }>> {
    const states = new Map<string, { epoch: number; owned: string[] }>();
    await Promise.all(
      NODES.map(async (name) => {
        try {
          const response = await fetch(`${this.url(name)}/v1/scopes`, { signal: AbortSignal.timeout(2_000) });
          const { epoch, scopes } = (await response.json()) as {
            epoch: number;
            scopes: { prefix: string; state: string }[];
          };
          states.set(name, {
            epoch,
            owned: scopes.filter(({ state }) => state === "Owned").map(({ prefix }) => prefix),
          });
        } catch {
          // Killed, or not started yet.
        }
      }),
    );
    return states;
  }

  /** How every move ended, by each node's journal. */
  decisions(): Map<string, Set<string>> {
    const decisions = new Map<string, Set<string>>();
    for (const name of NODES) {
      const text = readFileSync(join(this.#folder, `state-${name}`, "ownership.journal"), "utf8");
      for (const entry of unwrap(decodeJournal(text))) {
        if (entry.kind !== "Ended") continue;
        const { id, outcome } = entry.migration;
        decisions.set(id, (decisions.get(id) ?? new Set()).add(outcome));
      }
    }
    return decisions;
  }

  /** Resolves when every node knows how its moves ended. */
  async settled(): Promise<void> {
    for (const name of NODES)
      for (;;) {
        const response = await fetch(`${this.url(name)}/v1/scopes`);
        const { moves } = (await response.json()) as { moves: { state: string }[] };
        if (moves.every(({ state }) => state === "Committed" || state === "Aborted")) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
  }

  /** Stop the nodes as an operator does, so that they finish what they do. */
  async stopNodes(): Promise<void> {
    for (const name of NODES) {
      const node = this.#processes.get(name)!;
      node.signal("SIGTERM");
      await node.ended;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((each) => each.kill()));
  }

  #address(name: NodeName): string {
    return `127.0.0.1:${this.#ports.get(name)}`;
  }
}

/** Asks every node all the time, until stopped: for timestamps, and for what it owns. */
export class ClusterWatch {
  readonly timestamps: bigint[] = [];
  readonly problems: string[] = [];
  readonly #cluster: ServiceCluster;
  readonly #running: Promise<unknown>;
  #isStopped = false;

  constructor(cluster: ServiceCluster) {
    this.#cluster = cluster;
    this.#running = Promise.all([this.#watchTime(), this.#watchOwners()]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** A timestamp that is granted after another one is greater, whichever nodes were asked. */
  async #watchTime(): Promise<void> {
    for (let turn = 0; !this.#isStopped; turn++) {
      const url = this.#cluster.url(NODES[turn % NODES.length]!);
      try {
        const response = await fetch(`${url}/v1/timestamp`, { signal: AbortSignal.timeout(2_000) });
        if (response.status !== 200) continue;
        const { timestamp } = (await response.json()) as { timestamp: string };
        const last = this.timestamps.at(-1) ?? 0n;
        if (BigInt(timestamp) <= last) this.problems.push(`timestamp ${timestamp} after ${last}`);
        this.timestamps.push(BigInt(timestamp));
      } catch {
        // Killed, or not started yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Two nodes that own a prefix in two looks, without a change of either in between, own it at the same moment. */
  async #watchOwners(): Promise<void> {
    let before = await this.#cluster.states();
    while (!this.#isStopped) {
      const now = await this.#cluster.states();
      for (const prefix of ["t/1", "t/2", "t/3"]) {
        const owners = [...now].filter(
          ([name, { epoch, owned }]) =>
            owned.includes(prefix) && before.get(name)?.epoch === epoch && before.get(name)!.owned.includes(prefix),
        );
        if (owners.length > 1) this.problems.push(`${prefix} has the owners ${owners.map(([name]) => name).join()}`);
      }
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
