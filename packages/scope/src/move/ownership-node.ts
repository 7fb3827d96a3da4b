import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { Admission } from "../admit/in-flight.ts";
import { assertId } from "../assert-id.ts";
import { decideAbort, decideCommit, decideSettle } from "./decide-end.ts";
import { decideDrain, decideExpire, decideStart, type Decided, type Decider } from "./decide-source.ts";
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
import type { Routing } from "../route/routing.ts";
import { ScopeGate, type Refusal } from "../admit/scope-gate.ts";
import type { IsDown } from "../route/scope-router.ts";
import { copyBytes, readBytes, type Bytes } from "../text-bytes.ts";

export interface OwnershipNodeOptions {
  /** This node's id. */
  readonly self: string;
  /** Whether a node is down, as far as this node knows. Without it, fallbacks are never used. */
  readonly isDown?: IsDown | undefined;
  /** What becomes of a key that no scope covers. Default `"admit"`: scopes are opted into. */
  readonly unknownKeys?: "admit" | "refuse" | undefined;
}

/**
 * A change that a node is ready to make, and has not made.
 *
 * Make `entry` durable, then `apply` the change. One that was made before has no entry, and applying
 * it does nothing.
 */
export interface Change {
  readonly outcome: "Executed" | "Replayed";
  readonly entry: JournalEntry | undefined;
}

const REPLAYED: Change = Object.freeze({ outcome: "Replayed", entry: undefined });

/**
 * One node's part in deciding who writes what.
 *
 * It admits operations on keys, and takes part in moves. A move of a scope is always in one of these:
 *
 * - *started*: `start` at the source quiesces the scope at every node that learns of it. The source
 *   may still `abort`, and does so by itself at the deadline (`expire`).
 * - *drained*: all that the source had admitted is released, and `drain` lets the move out of its
 *   hands. From here on only the target decides: the source waits for its `Decision`.
 * - *over*: the target took the offer (`commit`) or did not (`abort`), and the source goes by that
 *   (`settle`). A scope that has moved can move again.
 *
 * So at each moment at most one node may write a scope or decide its owner: the source until it has
 * drained, then the target. No step needs more than one node to be up, and each may be repeated.
 *
 * Every step returns a `Change` and changes nothing. The caller makes its journal entry durable and
 * applies it, one change at a time; `rebuild` makes the same node of the same entries. No I/O and no
 * clock: the caller has both.
 */
export class OwnershipNode {
  readonly #self: string;
  readonly #gate: ScopeGate;
  #state: NodeState;
  #pending: Change | undefined;

  private constructor(state: NodeState, options: OwnershipNodeOptions) {
    assertObject(options, "options");
    const { self, isDown, unknownKeys = "admit" } = options;
    assertId(self, "self");
    assert(isDown === undefined || typeof isDown === "function", "isDown must be a function");
    assert(unknownKeys === "admit" || unknownKeys === "refuse", 'unknownKeys must be "admit" or "refuse"');
    this.#self = self;
    this.#state = state;
    this.#gate = new ScopeGate(routerOf(state.snapshot), { self, isDown, admitsUnknown: unknownKeys === "admit" });
  }

  /** A node that has no history. Write its `checkpoint` into the journal before anything else. */
  static open(table: OwnershipTable, options: OwnershipNodeOptions): OwnershipNode {
    assert(table instanceof OwnershipTable, "table must be an OwnershipTable");
    return new OwnershipNode(initialState(table), options);
  }

  /** The node that wrote these entries. What it had in flight is gone with it, and so is a change that was not made durable. */
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
    return this.#self;
  }

  get snapshot(): OwnershipSnapshot {
    return this.#state.snapshot;
  }

  /** An entry that holds everything: the first of a journal, or all of a shortened one. */
  checkpoint(): JournalEntry {
    return { kind: "Opened", state: this.#state };
  }

  /**
   * What becomes of the key here.
   *
   * Hot: allocates nothing once a scope has been asked for.
   */
  route(key: Bytes): Routing {
    return this.#gate.route(key);
  }

  /** Leave to operate on the key, or the verdict that speaks against it. */
  admit(key: Bytes): Result<Admission, Refusal> {
    return this.#gate.admit(key);
  }

  /** Operations on keys of the scope with this prefix that were admitted here and not released. */
  inFlight(prefix: Bytes): number {
    return this.#gate.inFlight(readBytes(prefix, "prefix"));
  }

  /** Resolves when nothing is in flight under the prefix. Only of a quiesced scope does it stay so. */
  whenDrained(prefix: Bytes): Promise<void> {
    return this.#gate.whenDrained(copyBytes(prefix, "prefix"));
  }

  /** At the source: begin to move a scope to another node. */
  start(request: MoveRequest, nowMs: number): Result<Change, StartError> {
    const move = ownShape(request);
    return this.#propose(() => decideStart(this.#state, move, this.#decider(nowMs)));
  }

  /** At the source: let the move out of its hands, once nothing is in flight. Then `offerFor` has the offer. */
  drain(id: string, nowMs: number): Result<Change, DrainError> {
    assertId(id, "id");
    return this.#propose(() =>
      decideDrain(this.#state, id, { ...this.#decider(nowMs), inFlight: (prefix) => this.#gate.inFlight(prefix) }),
    );
  }

  /** At the target, once it has the data: take the scope. Then `decisionFor` has what the source waits for. */
  commit(offer: Offer, nowMs: number): Result<Change, CommitError> {
    const own = ownOffer(offer);
    return this.#propose(() => decideCommit(this.#state, own, this.#decider(nowMs)));
  }

  /**
   * Give a move up: at the source before it has drained, at the target until it has committed.
   *
   * By id if this node knows the move. A target may not: a source that got no reply from it asks
   * with the whole move for a decision, and then no offer that is still under way can be taken.
   */
  abort(move: MigrationState | string): Result<Change, AbortError> {
    if (typeof move === "string") assertId(move, "id");
    const known = typeof move === "string" ? findMove(this.#state, { id: move }) : ownMigration(move);
    if (known === undefined) return err({ kind: "UnknownMigration", id: move as string });
    return this.#propose(() => decideAbort(this.#state, known, { self: this.#self }));
  }

  /** Go by what another node decided: at the source, and at every other node that shall know. */
  settle(decision: Decision): Result<Change, SettleError> {
    const own = ownDecision(decision);
    return this.#propose(() =>
      decideSettle(this.#state, own, { self: this.#self, inFlight: (prefix) => this.#gate.inFlight(prefix) }),
    );
  }

  /**
   * At the source: give up a move that has outlived its deadline and is still in its hands.
   *
   * One at a time: `Replayed` means that there is no other.
   */
  expire(nowMs: number): Result<Change, ChangePending> {
    return this.#propose(() => ok(decideExpire(this.#state, this.#decider(nowMs))));
  }

  /**
   * Put another table in the place of this one. It must keep the scopes that are moving.
   *
   * It may not give this node a scope of another's, nor take one from it: a node that has not heard of
   * it would go on writing. That is what moves are for. To drop a scope is to let every node write it.
   */
  reload(table: OwnershipTable, options: { readonly force?: boolean } = {}): Result<Change, ReloadError> {
    assertObject(options, "options");
    const { force = false } = options;
    assert(typeof force === "boolean", "force must be true or false");
    assert(table instanceof OwnershipTable, "table must be an OwnershipTable");
    return this.#propose(() => decideReload(this.#state, table, { self: this.#self, force }));
  }

  /** Put another node's snapshot in the place of this one's. An older one is refused. */
  adopt(snapshot: OwnershipSnapshot): Result<Change, AdoptError> {
    assert(snapshot instanceof OwnershipSnapshot, "snapshot must be an OwnershipSnapshot");
    return this.#propose(() => decideAdopt(this.#state, snapshot, { self: this.#self }));
  }

  /** Make a change, now that its entry is durable. */
  apply(change: Change): void {
    assertObject(change, "a change");
    if (change.entry === undefined) return;
    assert(change === this.#pending, "a change must be applied once, by the node that proposed it");
    const next = evolve(this.#state, change.entry);
    assert(next !== undefined, "a proposed change must follow from the state that it was proposed in");
    this.#pending = undefined;
    this.#state = next;
    this.#gate.follow(routerOf(next.snapshot));
  }

  /** Drop a change whose entry is certainly not durable. Where that is not known, stop and `rebuild`. */
  discard(change: Change): void {
    assertObject(change, "a change");
    if (change.entry === undefined) return;
    assert(change === this.#pending, "a change must be discarded by the node that proposed it, before it is applied");
    this.#pending = undefined;
  }

  /** The offer of a move that this node has drained and not settled. */
  offerFor(id: string): Offer | undefined {
    const move = findMove(this.#state, { id });
    return move !== undefined && this.#state.drained.has(id)
      ? { kind: "Offer", migration: copyMigration(move) }
      : undefined;
  }

  /** How a move ended, where this node knows. */
  decisionFor(id: string): Decision | undefined {
    const move = findMove(this.#state, { id });
    return move !== undefined && isFinished(move) ? { kind: "Decision", migration: copyMigration(move) } : undefined;
  }

  #decider(nowMs: number): Decider {
    assertCount(nowMs, "nowMs", { min: 0, max: Number.MAX_SAFE_INTEGER });
    return { self: this.#self, nowMs };
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
