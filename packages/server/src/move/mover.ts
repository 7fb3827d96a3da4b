import type { Decision, MigrationState, MoveRequest, Offer, StartError } from "@gossip/scope";
import { ok, type Result } from "@gossip/stdx";
import type { ClusterMember } from "./cluster-member.ts";
import type { PeerAnswer, PeerOf } from "./peer.ts";
import type { Shipped } from "./shipper.ts";

export interface MoverOptions {
  readonly member: ClusterMember;
  readonly peerOf: PeerOf;
  /** Every other node. */
  readonly peers: () => readonly string[];
  /** The cluster's clock. Rejects if it has no time. */
  readonly nowMs: () => Promise<number>;
  /** Resolves after `ms`, or when the mover is stopped. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Send the records of a scope to its target. Left out where the nodes share a store. */
  readonly ship?: ((offer: Offer) => Promise<Shipped>) | undefined;
  /** Remove the records of a scope that has moved away, unless it has come back. Called again after a crash. */
  readonly forget?: ((decision: Decision) => Promise<void>) | undefined;
}

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1_000;

/**
 * Moves scopes away from this node: start, drain, ship, commit at the target, settle.
 *
 * Each step is journaled before the next one begins and may be repeated, so that after a crash `resume` goes on where the
 * journal ends. Before a scope is drained this node may abort the move, and does so at its deadline. After that only the
 * target decides: this node stays quiesced and asks until it gets an answer, and past the deadline it asks the target to
 * abort.
 */
export class Mover {
  readonly #options: MoverOptions;
  readonly #driving = new Map<string, Promise<Decision | undefined>>();
  #isStopped = false;

  constructor(options: MoverOptions) {
    this.#options = options;
  }

  /** Start a move, and resolve with how it ended; `undefined` if this node stops before that. */
  async move(request: MoveRequest): Promise<Result<Decision | undefined, StartError>> {
    const { member, nowMs } = this.#options;
    const now = await nowMs();
    const started = await member.change((node) => node.start(request, now));
    if (!started.ok) {
      const decision = member.node.decisionFor(request.id);
      const isOver = started.error.kind === "AlreadyCommitted" || started.error.kind === "Aborted";
      return isOver && decision !== undefined ? ok(decision) : started;
    }
    return ok(await this.#drive(request.id));
  }

  /** Go on with the moves that the journal left unfinished. */
  resume(): void {
    const { node, self } = this.#options.member;
    for (const { id, from } of node.snapshot.migrations.live()) if (from === self) void this.#drive(id);
    const given = node.snapshot.migrations
      .finished()
      .filter(({ from, outcome }) => from === self && outcome === "Committed");
    // One of each prefix is enough: what is removed depends on the prefix and on who owns it now.
    const byPrefix = new Map(given.map((migration) => [Buffer.from(migration.prefix).toString("latin1"), migration]));
    for (const migration of byPrefix.values()) void this.#forget({ kind: "Decision", migration });
  }

  /** End a move that is not committed. Resolves with how it ended; `undefined` if it cannot be decided now. */
  async abort(id: string): Promise<Decision | undefined> {
    const { member, peerOf } = this.#options;
    const aborted = await member.change((node) => node.abort(id));
    const offer = member.node.offerFor(id);
    if (!aborted.ok && aborted.error.kind === "AwaitingTarget" && offer !== undefined)
      await this.#settle(await askFor(() => peerOf(offer.migration.to)?.abort(offer.migration)));
    return member.node.decisionFor(id);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #drive(id: string): Promise<Decision | undefined> {
    let driving = this.#driving.get(id);
    if (driving === undefined) {
      driving = this.#run(id).finally(() => this.#driving.delete(id));
      this.#driving.set(id, driving);
    }
    return driving;
  }

  async #run(id: string): Promise<Decision | undefined> {
    const { member, sleep } = this.#options;
    for (let attempt = 0; !this.#isStopped && !member.isBroken; attempt++) {
      const decision = member.node.decisionFor(id);
      if (decision !== undefined) return this.#finish(decision);
      const hasAdvanced = await this.#step(id);
      if (!hasAdvanced) await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)));
    }
    return undefined;
  }

  /** Take the next step of a move. Returns whether it was taken. */
  async #step(id: string): Promise<boolean> {
    const { member } = this.#options;
    try {
      const offer = member.node.offerFor(id);
      if (offer !== undefined) return await this.#handOver(offer);
      const move = member.node.snapshot.migrations.get(id);
      return move !== undefined && (await this.#drain(move));
    } catch {
      // No time from the clock, or a journal that cannot be written. The next attempt, or the next start, goes on.
      return false;
    }
  }

  async #drain({ id, prefix, deadlineMs }: MigrationState): Promise<boolean> {
    const { member, nowMs, sleep } = this.#options;
    const leftMs = deadlineMs - (await nowMs());
    await Promise.race([member.node.whenDrained(prefix), sleep(Math.max(0, leftMs))]);
    const now = await nowMs();
    const changed =
      now >= deadlineMs
        ? await member.change((node) => node.expire(now))
        : await member.change((node) => node.drain(id, now));
    return changed.ok;
  }

  async #handOver(offer: Offer): Promise<boolean> {
    const { peerOf, nowMs, ship } = this.#options;
    const { migration } = offer;
    const peer = peerOf(migration.to);
    if (peer === undefined) return false;
    if ((await nowMs()) >= migration.deadlineMs) return this.#settle(await peer.abort(migration));
    const shipped = ship === undefined ? "Shipped" : await ship(offer);
    if (shipped === "Silent") return false;
    const answer: PeerAnswer = shipped === "Shipped" ? await peer.offer(offer) : { kind: "Refused", reason: shipped };
    // A target that does not take the scope must say so for good before this node may write it again.
    return this.#settle(answer.kind === "Refused" ? await peer.abort(migration) : answer);
  }

  async #settle(answer: PeerAnswer): Promise<boolean> {
    if (answer.kind !== "Decided") return false;
    return (await this.#options.member.change((node) => node.settle(answer.decision))).ok;
  }

  async #finish(decision: Decision): Promise<Decision> {
    const { member, peers, peerOf } = this.#options;
    await this.#forget(decision);
    const others = peers().filter((name) => name !== decision.migration.to && name !== member.self);
    // Nodes that miss it learn the owner from this one, which names it to their clients.
    await Promise.all(others.map(async (name) => peerOf(name)?.inform(decision)));
    return decision;
  }

  async #forget(decision: Decision): Promise<void> {
    if (decision.migration.outcome !== "Committed") return;
    // A failure is not the move's: the next start tries again.
    await this.#options.forget?.(decision).catch(() => {});
  }
}

async function askFor(ask: () => Promise<PeerAnswer> | undefined): Promise<PeerAnswer> {
  return (await ask()) ?? { kind: "Silent" };
}
