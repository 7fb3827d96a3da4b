import type { Decision, JournalEntry, OwnershipNode } from "@gossip/scope";
import { assert, ok, unwrap } from "@gossip/stdx";
import { parseClusterFile } from "../ownership/cluster-file.ts";
import { ClusterMember } from "./cluster-member.ts";
import { MoveReceiver } from "./move-receiver.ts";
import { Mover } from "./mover.ts";
import type { Peer, PeerAnswer } from "./peer.ts";
import type { ScopeData } from "./scope-data.ts";
import { ship, type StagingPeer } from "./shipper.ts";
import { Staging, type StageAnswer, type StagedMove } from "./staging.ts";

/** Something that goes wrong, once. */
export type Fault =
  /** The process dies during its n-th durable write, which is made or not. */
  | { readonly kind: "Crash"; readonly node: string; readonly entry: number; readonly isDurable: boolean }
  /** The n-th message between the nodes is lost, or its answer is. */
  | { readonly kind: "Lost"; readonly message: number; readonly isAnswer: boolean };

interface Alarm {
  readonly atMs: number;
  readonly ring: () => void;
}

interface Process {
  readonly staging: Staging;
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

/** The records of the scope: each is a frame of its own. */
const ROWS = ["one", "two", "three"];

/** What survives a crash of a node. */
class Disk {
  readonly journal: JournalEntry[] = [];
  readonly staged = new Map<string, StagedMove>();
  readonly rows = new Set<string>();
}

/** Three nodes with simulated time, messages and disks. Checks after every event that the scope has at most one owner. */
export class MoveWorld {
  readonly disks = new Map<string, Disk>(["a", "b", "c"].map((name) => [name, new Disk()]));
  readonly #processes = new Map<string, Process>();
  readonly #faults: Fault[];
  readonly #hasShip: boolean;
  readonly #writes = new Map<string, number>();
  #alarms: Alarm[] = [];
  #nowMs = 1_000;
  #messages = 0;

  /** `hasShip`: the nodes have stores of their own, and records must be sent. */
  constructor(faults: readonly Fault[], { hasShip = false }: { readonly hasShip?: boolean } = {}) {
    this.#faults = [...faults];
    this.#hasShip = hasShip;
    if (hasShip) for (const row of ROWS) this.disks.get("a")!.rows.add(row);
    for (const name of this.disks.keys()) this.#start(name);
  }

  /** Faults that have not happened. */
  get unusedFaults(): number {
    return this.#faults.length;
  }

  /** How many durable writes each node has made, and how many messages there were. */
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
    const disk = this.disks.get(name)!;
    const journal = { append: (entry: JournalEntry) => this.#write(name, () => disk.journal.push(entry)) };
    const member = unwrap(
      ClusterMember.open({ self: name, cluster: CLUSTER, journal, entries: [...disk.journal], onBroken: () => {} }),
    );
    if (disk.journal.length === 0) disk.journal.push(member.node.checkpoint());
    const nowMs = async () => this.#nowMs;
    const data = this.#dataOf(name, disk);
    const staging = new Staging(member.node, data, {
      list: () => [...disk.staged.values()],
      put: (move) => this.#write(name, () => disk.staged.set(move.id, move)),
      remove: (id) => this.#write(name, () => disk.staged.delete(id)),
    });
    const receiver = new MoveReceiver({
      member,
      nowMs,
      ...(this.#hasShip && { check: (offer) => staging.check(offer), decided: () => staging.tidy() }),
    });
    const mover = new Mover({
      member,
      nowMs,
      peers: () => [...this.disks.keys()],
      peerOf: (peer) => this.#link(name, peer),
      sleep: (ms) => new Promise((ring) => this.#alarms.push({ atMs: this.#nowMs + ms, ring })),
      ...(this.#hasShip && {
        ship: (offer) => ship(offer, { node: member.node, data, peer: this.#stagingLink(name, offer.migration.to) }),
        forget: ({ migration }) => staging.forget(migration.prefix),
      }),
    });
    this.#processes.set(name, { member, mover, receiver, staging, isDead: false });
    mover.resume();
    if (this.#hasShip) staging.tidy().catch(() => {});
  }

  /** Records that are written one by one, each write a place to crash. */
  #dataOf(name: string, disk: Disk): ScopeData {
    return {
      frames: () => [...disk.rows].sort().map((row) => Buffer.from(row)),
      stage: async (frame) => {
        await this.#write(name, () => disk.rows.add(Buffer.from(frame).toString()));
        return ok(true);
      },
      purge: async () => {
        for (const row of disk.rows) await this.#write(name, () => disk.rows.delete(row));
        return ok(true);
      },
      check: async () => ok(ROWS.length - disk.rows.size),
    };
  }

  /** Make something durable, unless the process dies before. */
  async #write(name: string, apply: () => unknown): Promise<void> {
    if (this.#processes.get(name)?.isDead === true) throw new Error("dead");
    const index = this.#writes.get(name) ?? 0;
    this.#writes.set(name, index + 1);
    const fault = this.#take((each) => each.kind === "Crash" && each.node === name && each.entry === index);
    if (fault?.kind !== "Crash") {
      apply();
      return;
    }
    if (fault.isDurable) apply();
    this.#processes.get(name)!.isDead = true;
    this.#alarms.push({ atMs: this.#nowMs + RESTART_MS, ring: () => this.#start(name) });
    throw new Error("killed");
  }

  #stagingLink(from: string, to: string): StagingPeer {
    const ask = (request: (staging: Staging) => Promise<StageAnswer>): Promise<StageAnswer | undefined> =>
      this.#send(from, to, ({ staging }) => request(staging));
    return {
      begin: (move) => ask((staging) => staging.begin(move)),
      stage: (frame) => ask((staging) => staging.stage(frame)),
      complete: (id, frames) => ask((staging) => staging.complete(id, frames)),
    };
  }

  /** A message and its answer; `undefined` if either is lost. */
  async #send<T>(from: string, to: string, request: (process: Process) => Promise<T>): Promise<T | undefined> {
    const index = this.#messages++;
    const lost = this.#take((fault) => fault.kind === "Lost" && fault.message === index);
    const process = this.#processes.get(to)!;
    const isCut = process.isDead || this.#processes.get(from)!.isDead;
    if (isCut || (lost?.kind === "Lost" && !lost.isAnswer)) return undefined;
    const answer = await request(process).catch(() => undefined);
    return process.isDead || lost !== undefined ? undefined : answer;
  }

  #link(from: string, to: string): Peer {
    const ask = async (request: (peer: Peer) => Promise<PeerAnswer>): Promise<PeerAnswer> =>
      (await this.#send(from, to, ({ receiver }) => request(receiver))) ?? SILENT;
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
