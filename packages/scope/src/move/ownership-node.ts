import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { InFlight, type Admission } from "../admit/in-flight.ts";
import { assertId } from "../assert-id.ts";
import { decideAbort, decideCommit, decideSettle } from "./decide-end.ts";
import {
  decideDrain,
  decideExpire,
  decideStart,
  type Decided,
  type Decider,
  type DeciderNow,
} from "./decide-source.ts";
import { decideAdopt, decideReload } from "./decide-table.ts";
import { evolve } from "./evolve.ts";
import { ownDecision, ownOffer, type Decision, type Offer } from "./handover.ts";
import type { JournalEntry } from "./journal-entry.ts";
import {
  copyMigration,
  isFinished,
  ownMigration,
  ownShape,
  type MigrationState,
  type MoveRequest,
} from "./migration.ts";
import type {
  AbortError,
  AdoptError,
  ChangePending,
  CommitError,
  CorruptJournal,
  DrainError,
  ReloadError,
  SettleError,
  StartError,
} from "./node-error.ts";
import { findMove, initialState, type NodeState } from "./node-state.ts";
import { OwnershipSnapshot, routerOf } from "../route/ownership-snapshot.ts";
import { OwnershipTable } from "../table/ownership-table.ts";
import type { Refusal, Routing } from "../route/routing.ts";
import type { IsDown } from "../route/scope-router.ts";
import { copyBytes, readBytes, type Bytes } from "../text-bytes.ts";

export interface OwnershipNodeOptions {
  /** This node's id. */
  readonly self: string;
  /** Whether a node is down, as far as this node knows. Without it, fallbacks are never used. */
  readonly isDown?: IsDown | undefined;
  /** How to treat a key that no scope covers. Default `"admit"`: scopes are opt-in. */
  readonly unknownKeys?: "admit" | "refuse" | undefined;
}

/**
 * A change that a node has decided on and not made yet.
 *
 * Make `entry` durable, then `apply` the change. A replayed change has no entry, and applying it does nothing.
 */
export interface Change {
  readonly outcome: "Executed" | "Replayed";
  readonly entry: JournalEntry | undefined;
}

const REPLAYED: Change = Object.freeze({ outcome: "Replayed", entry: undefined });

/**
 * One node of a cluster that agrees on who writes what.
 *
 * It admits operations on keys and takes part in moves. A move of a scope is always in one of these states:
 *
 * - *started*: `start` at the source quiesces the scope at every node that learns of the move. The source
 *   may still `abort`; `expire` does so at the deadline.
 * - *drained*: every operation that the source had admitted is released (`drain`). From here on only the
 *   target decides, and the source waits for its `Decision`.
 * - *over*: the target took the offer (`commit`) or not (`abort`), and the source applies that
 *   (`settle`). A scope that has moved can move again.
 *
 * So at most one node at a time may write a scope or decide its owner: the source until it has drained,
 * then the target. Each step needs only one node to be up, and may be repeated.
 *
 * Every step returns a `Change` and changes nothing. The caller makes its journal entry durable and
 * applies it, one change at a time; `rebuild` makes the same node from the same entries. This class has no
 * I/O and no clock: the caller does.
 */
export class OwnershipNode {
  readonly #decider: Decider;
  readonly #isDown: IsDown | undefined;
  readonly #admitsUnknown: boolean;
  readonly #inFlight: InFlight;
  #state: NodeState;
  #pending: Change | undefined;

  private constructor(state: NodeState, options: OwnershipNodeOptions) {
    assertObject(options, "options");
    const { self, isDown, unknownKeys = "admit" } = options;
    assertId(self, "self");
    assert(isDown === undefined || typeof isDown === "function", "isDown must be a function");
    assert(unknownKeys === "admit" || unknownKeys === "refuse", 'unknownKeys must be "admit" or "refuse"');
    this.#state = state;
    this.#isDown = isDown;
    this.#admitsUnknown = unknownKeys === "admit";
    this.#inFlight = new InFlight(routerOf(state.snapshot).index);
    this.#decider = { self, inFlight: (prefix) => this.#inFlight.count(prefix) };
  }

  /** A node without a history. Write its `checkpoint` to the journal first. */
  static open(table: OwnershipTable, options: OwnershipNodeOptions): OwnershipNode {
    assert(table instanceof OwnershipTable, "table must be an OwnershipTable");
    return new OwnershipNode(initialState(table), options);
  }

  /** The node that wrote these entries, without its operations in flight and without changes that were not durable. */
  static rebuild(
    entries: Iterable<JournalEntry>,
    options: OwnershipNodeOptions,
  ): Result<OwnershipNode, CorruptJournal> {
    assert(typeof Object(entries)[Symbol.iterator] === "function", "entries must be a list of journal entries");
    let state: NodeState | undefined;
    let position = 0;
    for (const entry of entries) {
      state = typeof entry === "object" && entry !== null ? evolve(state, entry) : undefined;
      if (state === undefined) return err({ kind: "CorruptJournal", position });
      position += 1;
    }
    return state === undefined ? err({ kind: "CorruptJournal", position }) : ok(new OwnershipNode(state, options));
  }

  get self(): string {
    return this.#decider.self;
  }

  get snapshot(): OwnershipSnapshot {
    return this.#state.snapshot;
  }

  /** An entry with the whole state: the first of a journal, or the only one of a shortened journal. */
  checkpoint(): JournalEntry {
    return { kind: "Opened", state: this.#state };
  }

  /**
   * How this node should treat the key.
   *
   * Hot: allocates nothing after the first call for a scope.
   */
  route(key: Bytes): Routing {
    const router = routerOf(this.#state.snapshot);
    return router.verdictAt(router.index.find(key), this.#decider.self, this.#isDown);
  }

  /**
   * Permission to operate on the key, or the verdict that refuses it.
   *
   * Deciding and counting are one synchronous step, so ownership cannot change in between.
   */
  admit(key: Bytes): Result<Admission, Refusal> {
    const router = routerOf(this.#state.snapshot);
    const position = router.index.find(key);
    const verdict = router.verdictAt(position, this.#decider.self, this.#isDown);
    const isAdmitted = verdict.kind === "Owned" || (verdict.kind === "Unknown" && this.#admitsUnknown);
    return isAdmitted ? ok(this.#inFlight.admit(position, verdict)) : err(verdict);
  }

  /** Operations on keys of the scope with this prefix that were admitted here and not released. */
  inFlight(prefix: Bytes): number {
    return this.#inFlight.count(readBytes(prefix, "prefix"));
  }

  /** Resolves when nothing is in flight under the prefix. It stays so only if the scope is quiesced. */
  whenDrained(prefix: Bytes): Promise<void> {
    return this.#inFlight.whenDrained(copyBytes(prefix, "prefix"));
  }

  /** At the source: start to move a scope to another node. */
  start(request: MoveRequest, nowMs: number): Result<Change, StartError> {
    const move = ownShape(request);
    return this.#propose(() => decideStart(this.#state, move, this.#at(nowMs)));
  }

  /** At the source, once nothing is in flight: leave the decision to the target. Then `offerFor` returns the offer. */
  drain(id: string, nowMs: number): Result<Change, DrainError> {
    assertId(id, "id");
    return this.#propose(() => decideDrain(this.#state, id, this.#at(nowMs)));
  }

  /** At the target, once it has the data: take the scope. Then `decisionFor` returns the decision for the source. */
  commit(offer: Offer, nowMs: number): Result<Change, CommitError> {
    const own = ownOffer(offer);
    return this.#propose(() => decideCommit(this.#state, own, this.#at(nowMs)));
  }

  /**
   * Abort a move: at the source before it has drained, at the target until it has committed.
   *
   * Pass the id if this node knows the move. A target may not know it: a source that got no reply passes the
   * whole move to request a decision, and then an offer that is still in flight is refused.
   */
  abort(move: MigrationState | string): Result<Change, AbortError> {
    if (typeof move === "string") assertId(move, "id");
    const known = typeof move === "string" ? findMove(this.#state, { id: move }) : ownMigration(move);
    if (known === undefined) return err({ kind: "UnknownMigration", id: move as string });
    return this.#propose(() => decideAbort(this.#state, known, this.#decider));
  }

  /** Apply the decision of another node: at the source, and at every other node that should know. */
  settle(decision: Decision): Result<Change, SettleError> {
    const own = ownDecision(decision);
    return this.#propose(() => decideSettle(this.#state, own, this.#decider));
  }

  /**
   * At the source: abort a move that is past its deadline and not drained.
   *
   * One at a time: `Replayed` means that there is no other.
   */
  expire(nowMs: number): Result<Change, ChangePending> {
    return this.#propose(() => ok(decideExpire(this.#state, this.#at(nowMs))));
  }

  /**
   * Replace the table. The new one must keep the scopes that are moving.
   *
   * It may not give this node a scope of another node, nor take one away: a node that does not know it would
   * keep writing. Use a move for that. After dropping a scope, every node may write it.
   */
  reload(table: OwnershipTable, options: { readonly force?: boolean } = {}): Result<Change, ReloadError> {
    assertObject(options, "options");
    const { force = false } = options;
    assert(typeof force === "boolean", "force must be true or false");
    assert(table instanceof OwnershipTable, "table must be an OwnershipTable");
    return this.#propose(() => decideReload(this.#state, table, { ...this.#decider, force }));
  }

  /** Replace the snapshot by another node's. An older one is refused. */
  adopt(snapshot: OwnershipSnapshot): Result<Change, AdoptError> {
    assert(snapshot instanceof OwnershipSnapshot, "snapshot must be an OwnershipSnapshot");
    return this.#propose(() => decideAdopt(this.#state, snapshot, this.#decider));
  }

  /** Make a change whose entry is durable. */
  apply(change: Change): void {
    if (!this.#take(change)) return;
    const next = evolve(this.#state, change.entry!);
    assert(next !== undefined, "a proposed change must follow from the state that it was proposed in");
    this.#state = next;
    this.#inFlight.follow(routerOf(next.snapshot).index);
  }

  /** Drop a change whose entry is certainly not durable. If that is unknown, stop and `rebuild`. */
  discard(change: Change): void {
    this.#take(change);
  }

  /** Makes room for another change, unless this one is a replayed one. */
  #take(change: Change): boolean {
    assertObject(change, "a change");
    if (change.entry === undefined) return false;
    assert(change === this.#pending, "a change must be applied or discarded once, by the node that proposed it");
    this.#pending = undefined;
    return true;
  }

  /** The offer of a move that this node has drained and not settled. */
  offerFor(id: string): Offer | undefined {
    const move = findMove(this.#state, { id });
    return move !== undefined && this.#state.drained.has(id)
      ? { kind: "Offer", migration: copyMigration(move) }
      : undefined;
  }

  /** How a move ended, if this node knows. */
  decisionFor(id: string): Decision | undefined {
    const move = findMove(this.#state, { id });
    return move !== undefined && isFinished(move) ? { kind: "Decision", migration: copyMigration(move) } : undefined;
  }

  #at(nowMs: number): DeciderNow {
    assertCount(nowMs, "nowMs", { min: 0, max: Number.MAX_SAFE_INTEGER });
    return { ...this.#decider, nowMs };
  }

  #propose<E>(decide: () => Decided<E>): Result<Change, Exclude<E, ChangePending> | ChangePending> {
    if (this.#pending !== undefined) return err({ kind: "ChangePending" });
    const decided = decide();
    if (!decided.ok) return decided;
    if (decided.value === undefined) return ok(REPLAYED);
    this.#pending = Object.freeze({ outcome: "Executed", entry: decided.value });
    return ok(this.#pending);
  }
}
