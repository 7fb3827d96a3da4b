import type { MigrationState, Offer, OwnershipNode } from "@gossip/scope";
import { equalBytes } from "@gossip/stdx";
import { runsOfScope, type ScopeData } from "./scope-data.ts";

/** How much of a move's data is here. */
export interface StagedMove {
  readonly id: string;
  readonly prefix: Uint8Array;
  /** Frames that are durable. */
  readonly frames: number;
  /** Whether there are no more frames. */
  readonly isComplete: boolean;
}

/** Remembers what is staged. A promise resolves once the change is durable. */
export interface StagingLog {
  list(): readonly StagedMove[];
  put(move: StagedMove): Promise<void>;
  remove(id: string): Promise<void>;
}

/** The answer to a source that ships: how far this node has come, or why it takes nothing. */
export type StageAnswer =
  | { readonly kind: "Staged"; readonly frames: number; readonly isComplete: boolean }
  | { readonly kind: "Refused"; readonly reason: string };

export interface Frame {
  readonly id: string;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/**
 * At the target: takes the records of a scope that moves here.
 *
 * They are written to the store of this node, where no request can see them: requests are routed first, and this node does
 * not own the scope. The journal entry that commits the move is the one write that makes them visible. What is staged is
 * written down first, so that leftovers of a move that was aborted are found and removed, also after a crash.
 */
export class Staging {
  readonly #node: OwnershipNode;
  readonly #data: ScopeData;
  readonly #log: StagingLog;
  #last: Promise<unknown> = Promise.resolve();

  constructor(node: OwnershipNode, data: ScopeData, log: StagingLog) {
    this.#node = node;
    this.#data = data;
    this.#log = log;
  }

  /** Whether records of a scope are here that this node does not own yet. */
  #isStaging(prefix: Uint8Array): boolean {
    return this.#log.list().some((move) => equalBytes(move.prefix, prefix));
  }

  /** Begin to take a scope, or go on: returns how many frames are here. */
  begin(move: MigrationState): Promise<StageAnswer> {
    return this.#inTurn(async () => {
      const { id, prefix } = move;
      const refusal = this.#refusal(move);
      if (refusal !== undefined) return refusal;
      const known = this.#find(id);
      if (known !== undefined) return answer(known);
      // Records of this scope that are here are leftovers: this node does not own it.
      if (!(await this.#purge(prefix))) return NOT_WRITTEN;
      const begun = { id, prefix, frames: 0, isComplete: false };
      await this.#log.put(begun);
      for (const other of this.#log.list())
        if (other.id !== id && equalBytes(other.prefix, prefix)) await this.#log.remove(other.id);
      return answer(begun);
    });
  }

  /** Write a frame. One that is here already is acknowledged again. */
  stage({ id, index, bytes }: Frame): Promise<StageAnswer> {
    return this.#inTurn(async () => {
      const move = this.#find(id);
      if (move === undefined || move.isComplete || index > move.frames) return refused("UnknownFrame");
      if (index < move.frames) return answer(move);
      const written = await this.#data.stage(bytes, runsOfScope(this.#node, move.prefix));
      if (!written.ok) return NOT_WRITTEN;
      if (!written.value) return refused("DamagedFrame");
      const next = { ...move, frames: index + 1 };
      await this.#log.put(next);
      return answer(next);
    });
  }

  /** Note that a move has no more frames than these. */
  complete(id: string, frames: number): Promise<StageAnswer> {
    return this.#inTurn(async () => {
      const move = this.#find(id);
      if (move === undefined || move.frames !== frames) return refused("UnknownFrame");
      const whole = { ...move, isComplete: true };
      if (!move.isComplete) await this.#log.put(whole);
      return answer(whole);
    });
  }

  /** Why an offer cannot be taken: its records are not all here, or fsck finds faults in them. */
  check({ migration: { id, prefix } }: Offer): Promise<string | undefined> {
    return this.#inTurn(async () => {
      if (this.#find(id)?.isComplete !== true) return "NotStaged";
      const faults = await this.#data.check(runsOfScope(this.#node, prefix));
      return faults.ok && faults.value === 0 ? undefined : "DamagedRecords";
    });
  }

  /** Forget the moves that are decided: the records of an aborted one are removed, those of a committed one stay. */
  tidy(): Promise<void> {
    return this.#inTurn(async () => {
      for (const { id, prefix } of this.#log.list()) {
        const decision = this.#node.decisionFor(id);
        if (decision === undefined) continue;
        const isKept = decision.migration.outcome === "Committed";
        if (isKept || (await this.#purge(prefix))) await this.#log.remove(id);
      }
    });
  }

  /** At a source: remove the records of a scope that has moved away, unless it has come back or is about to. */
  forget(prefix: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      const isOwner = this.#node.snapshot.table.lookup(prefix)?.writer === this.#node.self;
      if (!isOwner && !this.#isStaging(prefix)) await this.#purge(prefix);
    });
  }

  /** Resolves when nothing is being written or removed. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #refusal({ id, prefix, to }: MigrationState): StageAnswer | undefined {
    const scope = this.#node.snapshot.table.lookup(prefix);
    if (scope === undefined || !equalBytes(scope.prefix, prefix)) return refused("UndeclaredScope");
    if (to !== this.#node.self) return refused("NotTarget");
    if (scope.writer === this.#node.self) return refused("NotOwner");
    return this.#node.decisionFor(id) === undefined ? undefined : refused("Decided");
  }

  async #purge(prefix: Uint8Array): Promise<boolean> {
    const purged = await this.#data.purge(runsOfScope(this.#node, prefix), () => false);
    return purged.ok && purged.value;
  }

  #find(id: string): StagedMove | undefined {
    return this.#log.list().find((move) => move.id === id);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

function answer({ frames, isComplete }: StagedMove): StageAnswer {
  return { kind: "Staged", frames, isComplete };
}

function refused(reason: string): StageAnswer {
  return { kind: "Refused", reason };
}

/** The disk is full, or the engine failed: the source asks again. */
const NOT_WRITTEN: StageAnswer = { kind: "Refused", reason: "NotWritten" };
