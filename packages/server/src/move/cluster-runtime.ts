import type { Clock } from "@gossip/contracts";
import type { CorruptJournal, Decision, ReloadError } from "@gossip/scope";
import { err, ok, type Result } from "@gossip/stdx";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../ownership/cluster-file.ts";
import type { Ownership } from "../ownership/ownership.ts";
import { PeerLinks, type PeerTls } from "../ownership/peer-links.ts";
import { helloRefusal, type Hello } from "./hello.ts";
import type { ClusterControl, InvalidFile, MoveCommand, MoveError, TakenScope } from "./cluster-control.ts";
import { ClusterHandler } from "./cluster-handler.ts";
import { ClusterMember } from "./cluster-member.ts";
import type { FenceRegister } from "./fence-register.ts";
import { Fence } from "./fence.ts";
import { HttpPeer } from "./http-peer.ts";
import { JournalFile, type JournalError } from "./journal-file.ts";
import { MoveReceiver } from "./move-receiver.ts";
import { Mover } from "./mover.ts";
import type { ScopeData } from "./scope-data.ts";
import { ship } from "./shipper.ts";
import { stagingCalls } from "./staging-calls.ts";
import { StagingFile } from "./staging-file.ts";
import { Staging } from "./staging.ts";

export interface ClusterRuntimeOptions {
  /** This node's name in the cluster file. */
  readonly self: string;
  readonly cluster: Cluster;
  /** Where this node keeps its journal. No other node may use the folder. */
  readonly folder: string;
  /** The cluster's clock. */
  readonly clock: Clock;
  /** Identifies the cluster's clock. Nodes with another one do not exchange scopes. */
  readonly oracle: string;
  /** The kind of store that this node uses. */
  readonly store: string;
  /** Where nodes with a shared store see which of them are declared down. Fallbacks need it. */
  readonly fences?: FenceRegister | undefined;
  /** The records of an embedded store, which travel with a scope. Left out where the nodes share a store. */
  readonly data?: ScopeData | undefined;
  /** Tokens between nodes: the first is sent, each is accepted. Without any, every caller is accepted. */
  readonly tokens?: readonly string[] | undefined;
  readonly tls?: PeerTls | undefined;
  /** Reads the cluster file again. Returns what is wrong with it. */
  readonly readCluster: () => Promise<Result<Cluster, string>>;
  /** Called if the journal cannot be written: the process must end, and start again. */
  readonly onBroken: (thrown: unknown) => void;
}

/** How long a scope may be quiesced before its move is aborted, unless the operator says otherwise. */
export const DEFAULT_MOVE_TIMEOUT_MS = 30_000;
/** A journal that is longer is replaced by a checkpoint when it is opened. */
const MAX_ENTRIES = 1_000;

interface RuntimeParts {
  readonly member: ClusterMember;
  readonly journal: JournalFile;
  readonly staging: Staging | undefined;
}

/** What a node of a cluster does besides serving clients: it takes part in moves of scopes. */
export class ClusterRuntime implements ClusterControl {
  readonly ownership: Ownership;
  readonly links: PeerLinks;
  readonly handler: ClusterHandler;
  readonly #member: ClusterMember;
  readonly #journal: JournalFile;
  readonly #mover: Mover;
  readonly #nowMs: () => Promise<number>;
  readonly #readCluster: ClusterRuntimeOptions["readCluster"];
  #tokens: readonly string[] | undefined;
  readonly #hello: Hello;
  readonly #staging: Staging | undefined;
  readonly #fences: FenceRegister | undefined;
  readonly #fence: Fence | undefined;
  readonly #starting = new Map<string, Promise<unknown>>();
  readonly #stopping = new AbortController();

  static async open(options: ClusterRuntimeOptions): Promise<Result<ClusterRuntime, JournalError | CorruptJournal>> {
    const opened = await JournalFile.open(options.folder);
    if (!opened.ok) return opened;
    const { journal, entries } = opened.value;
    const member = ClusterMember.open({ ...options, journal, entries });
    if (!member.ok) {
      await journal.close();
      return member;
    }
    if (entries.length === 0 || entries.length > MAX_ENTRIES) await journal.restart(member.value.node.checkpoint());
    const { data, folder } = options;
    const staging = data && new Staging(member.value.node, data, await StagingFile.open(folder));
    return ok(new ClusterRuntime(options, { member: member.value, journal, staging }));
  }

  private constructor(
    { clock, tokens, tls, readCluster, oracle, store, data, fences }: ClusterRuntimeOptions,
    { member, journal, staging }: RuntimeParts,
  ) {
    this.#staging = staging;
    this.#fences = fences;
    this.#readCluster = readCluster;
    this.#member = member;
    this.#journal = journal;
    this.ownership = member.ownership;
    this.links = new PeerLinks(tls);
    this.#nowMs = async () => Number(await clock.now());
    const receiver = new MoveReceiver({
      member,
      nowMs: this.#nowMs,
      ...(staging && { check: (offer) => staging.check(offer), decided: () => staging.tidy() }),
    });
    this.#tokens = tokens;
    this.#hello = { node: member.self, oracle, store };
    const hello = async () => ({ status: 200, text: JSON.stringify(this.#hello) });
    this.handler = new ClusterHandler({
      receiver,
      tokens: () => this.#tokens,
      calls: { hello, ...(staging && stagingCalls(staging)) },
    });
    const pause = async (ms: number): Promise<void> => {
      await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
    };
    this.#fence = fences && new Fence({ member, register: fences, monotonicMs: () => performance.now(), sleep: pause });
    member.ownership.fence = this.#fence;
    this.#mover = new Mover({
      member,
      nowMs: this.#nowMs,
      peers: () => [...this.ownership.addresses.keys()],
      peerOf: (name) => this.#peerOf(name),
      ...(staging &&
        data && {
          ship: async (offer) => {
            const peer = this.#peerOf(offer.migration.to);
            return peer === undefined ? "Silent" : ship(offer, { node: member.node, data, peer });
          },
          forget: ({ migration }) => staging.forget(migration.prefix),
        }),
      sleep: pause,
    });
  }

  get self(): string {
    return this.#member.self;
  }

  /** Go on with moves that a crash interrupted. Call it once this node can be reached. */
  resume(): void {
    void this.#fence?.run();
    this.#mover.resume();
    // A failure leaves records that no request can see: the next start tries again.
    this.#staging?.tidy().catch(() => {});
  }

  /** Move a scope of this node to another one. Resolves with how it ended. */
  async move(command: MoveCommand): Promise<Result<Decision | undefined, MoveError>> {
    // Repeated while it starts, a move would get another deadline and be taken for another move.
    const starting = this.#starting.get(command.id);
    if (starting !== undefined) {
      await starting.catch(() => {});
      return this.move(command);
    }
    const moving = this.#move(command);
    this.#starting.set(command.id, moving);
    try {
      return await moving;
    } finally {
      this.#starting.delete(command.id);
    }
  }

  async #move(command: MoveCommand): Promise<Result<Decision | undefined, MoveError>> {
    const { id, prefix, to, timeoutMs = DEFAULT_MOVE_TIMEOUT_MS } = command;
    const address = this.ownership.addressOf(to);
    const peer = this.#peerOf(to);
    if (address === undefined || peer === undefined) return err({ kind: "UnknownNode" });
    const { node } = this.ownership;
    const known = node.snapshot.migrations.get(id);
    if (known !== undefined && (known.to !== to || !Buffer.from(prefix).equals(known.prefix)))
      return err({ kind: "MigrationIdConflict", id });
    // A repeated command: any node that knows the outcome has it, and the source goes on with the move.
    const decision = node.decisionFor(id);
    if (decision !== undefined) return ok(decision);
    if (known !== undefined && known.from !== this.self) return err({ kind: "NotOwner", owner: known.from });
    // Do not quiesce a scope for a node that cannot take it.
    if (known === undefined && to !== this.self && this.#ownsExactly(prefix)) {
      const refusal = helloRefusal(this.#hello, await peer.hello(), to);
      if (refusal !== undefined) return err({ kind: refusal });
    }
    const deadlineMs = known?.deadlineMs ?? (await this.#nowMs()) + timeoutMs;
    const moved = await this.#mover.move({ id, prefix, from: this.self, to, address, deadlineMs });
    // While this waited, the source of the same move may have told this node about it.
    const isNews = known === undefined && !moved.ok && moved.error.kind === "MigrationIdConflict";
    return isNews ? this.#move(command) : moved;
  }

  /** End a move that is not committed. Resolves with how it ended, or `undefined` if its target does not answer. */
  abort(id: string): Promise<Decision | undefined> {
    return this.#mover.abort(id);
  }

  /**
   * Declare a node down: the fallbacks of its scopes take them over, some seconds later.
   *
   * Returns the scopes, or `undefined` if it has none with a fallback.
   */
  async markDown(node: string): Promise<readonly TakenScope[] | undefined> {
    const taken = this.ownership.node.snapshot.table
      .scopes()
      .flatMap(({ prefix, writer, fallback }) =>
        writer === node && fallback !== undefined ? [{ prefix: textOf(prefix), by: fallback }] : [],
      );
    if (taken.length === 0 || this.#fences === undefined) return undefined;
    for (const by of new Set(taken.map((scope) => scope.by))) await this.#fences.put({ node, by });
    return taken;
  }

  /** Declare a node up again: it may own scopes that have a fallback. Moves give them back. */
  async markUp(node: string): Promise<boolean> {
    const takeovers = (await this.#fences?.list())?.filter((takeover) => takeover.node === node) ?? [];
    for (const takeover of takeovers) await this.#fences?.remove(takeover);
    return takeovers.length > 0;
  }

  async reload(): Promise<Result<number, ReloadError | InvalidFile>> {
    const cluster = await this.#readCluster();
    if (!cluster.ok) return err({ kind: "InvalidFile", problem: cluster.error });
    const changed = await this.#member.reload(cluster.value);
    return changed.ok ? ok(this.ownership.node.snapshot.epoch) : changed;
  }

  /** Use other certificates for new connections to other nodes. */
  reloadTls(tls: PeerTls): void {
    this.links.reload(tls);
  }

  /** Send the first of these tokens from now on, and accept each of them and no other. */
  reloadTokens(tokens: readonly string[]): void {
    this.#tokens = tokens;
  }

  /** Another node, as the cluster file has it now. */
  #peerOf(name: string): HttpPeer | undefined {
    const address = this.ownership.addressOf(name);
    return address === undefined ? undefined : new HttpPeer({ links: this.links, address, token: this.#tokens?.[0] });
  }

  #ownsExactly(prefix: string): boolean {
    const { table } = this.ownership.node.snapshot;
    const scope = table.lookup(Buffer.from(prefix));
    return scope?.writer === this.self && Buffer.from(prefix).equals(scope.prefix);
  }

  async close(): Promise<void> {
    this.#mover.stop();
    this.#fence?.stop();
    this.#stopping.abort();
    this.links.close();
    await this.#staging?.idle();
    await this.#journal.close();
  }
}

function textOf(prefix: Uint8Array): string {
  return Buffer.from(prefix).toString("latin1");
}
