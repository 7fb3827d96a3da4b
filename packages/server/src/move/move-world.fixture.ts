import type { Decision, JournalEntry, OwnershipNode } from "@gossip/scope";
import { assert, unwrap } from "@gossip/stdx";
import { parseClusterFile } from "../ownership/cluster-file.ts";
import { ClusterMember } from "./cluster-member.ts";
import { MoveReceiver } from "./move-receiver.ts";
import { Mover } from "./mover.ts";
import type { Peer, PeerAnswer } from "./peer.ts";

/** Something that goes wrong, once. */
export type Fault =
  /** The process dies while it writes this entry, which is durable or not. */
  | { readonly kind: "Crash"; readonly node: string; readonly entry: number; readonly isDurable: boolean }
  /** The n-th message between the nodes is lost, or its answer is. */
  | { readonly kind: "Lost"; readonly message: number; readonly isAnswer: boolean };

interface Alarm {
  readonly atMs: number;
  readonly ring: () => void;
}

interface Process {
  readonly member: ClusterMember;
  readonly mover: Mover;
  readonly receiver: MoveReceiver;
  isDead: boolean;
}

const CLUSTER = unwrap(
  parseClusterFile(`
    cluster.node = [{ name = "a", address = "a:1" }, { name = "b", address = "b:1" }, { name = "c", address = "c:1" }]
    cluster.scope = [{ prefix = "t/1", writer = "a" }, { prefix = "t/2", writer = "b" }]
  `),
);
const RESTART_MS = 7;
const KEY = `t/1${"0".repeat(63)}/r/0000000000000001`;

/** Three nodes with simulated time, messages and journals. Checks after every event that the scope has at most one owner. */
export class MoveWorld {
  readonly journals = new Map<string, JournalEntry[]>(["a", "b", "c"].map((name) => [name, []]));
  readonly #processes = new Map<string, Process>();
  readonly #faults: Fault[];
  readonly #writes = new Map<string, number>();
  #alarms: Alarm[] = [];
  #nowMs = 1_000;
  #messages = 0;

  constructor(faults: readonly Fault[]) {
    this.#faults = [...faults];
    for (const name of this.journals.keys()) this.#start(name);
  }

  /** Faults that have not happened. */
  get unusedFaults(): number {
    return this.#faults.length;
  }

  /** How many entries each node has written, and how many messages there were. */
  get counts(): { readonly a: number; readonly b: number; readonly messages: number } {
    return { a: this.#writes.get("a") ?? 0, b: this.#writes.get("b") ?? 0, messages: this.#messages };
  }

  node(name: string): OwnershipNode {
    return this.#processes.get(name)!.member.node;
  }

  /** Move t/1 from a to b, whatever happens. Resolves once every node is idle. */
  async move({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    const { mover, member } = this.#processes.get("a")!;
    const held = unwrap(member.node.admit(KEY));
    const request = {
      id: "m1",
      prefix: "t/1",
      from: "a",
      to: "b",
      address: "b:1",
      deadlineMs: this.#nowMs + timeoutMs,
    };
    void mover.move(request).catch(() => {});
    this.#alarms.push({ atMs: this.#nowMs + 3, ring: () => held.release() });
    await this.#run();
  }

  get decision(): Decision | undefined {
    return this.node("b").decisionFor("m1") ?? this.node("a").decisionFor("m1");
  }

  /** The nodes that would execute a request for the scope now. */
  owners(): string[] {
    return [...this.#processes].flatMap(([name, { member, isDead }]) =>
      !isDead && member.node.route(KEY).kind === "Owned" ? [name] : [],
    );
  }

  async #run(): Promise<void> {
    for (let steps = 0; ; steps++) {
      assert(steps < 2_000, "a move must end");
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert(this.owners().length <= 1, "two nodes own the scope");
      const next = this.#alarms.sort((a, b) => a.atMs - b.atMs).shift();
      if (next === undefined) return;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.ring();
    }
  }

  #start(name: string): void {
    const entries = this.journals.get(name)!;
    const journal = { append: (entry: JournalEntry) => this.#write(name, entry) };
    const member = unwrap(
      ClusterMember.open({ self: name, cluster: CLUSTER, journal, entries: [...entries], onBroken: () => {} }),
    );
    if (entries.length === 0) entries.push(member.node.checkpoint());
    const nowMs = async () => this.#nowMs;
    const receiver = new MoveReceiver({ member, nowMs });
    const mover = new Mover({
      member,
      nowMs,
      peers: () => [...this.journals.keys()],
      peerOf: (peer) => this.#link(name, peer),
      sleep: (ms) => new Promise((ring) => this.#alarms.push({ atMs: this.#nowMs + ms, ring })),
    });
    this.#processes.set(name, { member, mover, receiver, isDead: false });
    mover.resume();
  }

  async #write(name: string, entry: JournalEntry): Promise<void> {
    const index = this.#writes.get(name) ?? 0;
    this.#writes.set(name, index + 1);
    const fault = this.#take((each) => each.kind === "Crash" && each.node === name && each.entry === index);
    if (fault?.kind !== "Crash") {
      this.journals.get(name)!.push(entry);
      return;
    }
    if (fault.isDurable) this.journals.get(name)!.push(entry);
    this.#processes.get(name)!.isDead = true;
    this.#alarms.push({ atMs: this.#nowMs + RESTART_MS, ring: () => this.#start(name) });
    throw new Error("killed");
  }

  #link(from: string, to: string): Peer {
    const ask = async (request: (peer: Peer) => Promise<PeerAnswer>): Promise<PeerAnswer> => {
      const index = this.#messages++;
      const lost = this.#take((fault) => fault.kind === "Lost" && fault.message === index);
      const { receiver, isDead } = this.#processes.get(to)!;
      if (isDead || this.#processes.get(from)!.isDead || (lost?.kind === "Lost" && !lost.isAnswer)) return SILENT;
      const process = this.#processes.get(to)!;
      const answer = await request(receiver).catch(() => SILENT);
      return process.isDead || lost !== undefined ? SILENT : answer;
    };
    return {
      offer: (offer) => ask((peer) => peer.offer(offer)),
      abort: (move) => ask((peer) => peer.abort(move)),
      inform: async (decision) => {
        await ask(async (peer) => {
          await peer.inform(decision);
          return SILENT;
        });
      },
    };
  }

  #take(matches: (fault: Fault) => boolean): Fault | undefined {
    const index = this.#faults.findIndex(matches);
    return index === -1 ? undefined : this.#faults.splice(index, 1)[0];
  }
}

const SILENT: PeerAnswer = { kind: "Silent" };
