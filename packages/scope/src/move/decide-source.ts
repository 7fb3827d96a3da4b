import { err, ok, type Result } from "@gossip/stdx";
import { innerScopes } from "../table/inner-scopes.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { asEnded, isFinished, isSameMove, type MoveShape } from "./migration.ts";
import type { ChangePending, DrainError, StartError } from "./node-error.ts";
import { findMove, latestNumber, ownerOf, type NodeState } from "./node-state.ts";

/** The journal entry of a step; `undefined` if the step was taken before. */
export type Decided<E> = Result<JournalEntry | undefined, Exclude<E, ChangePending>>;

/** The deciding node. */
export interface Decider {
  readonly self: string;
  /** Operations in flight under a prefix. */
  readonly inFlight: (prefix: Uint8Array) => number;
}

/** The deciding node at a time. */
export interface DeciderNow extends Decider {
  readonly nowMs: number;
}

/**
 * Whether this node may start to move a scope away.
 *
 * A known id is checked first: a repeated step must return its first result, whatever has changed since.
 */
export function decideStart(state: NodeState, move: MoveShape, { self, nowMs }: DeciderNow): Decided<StartError> {
  const known = findMove(state, move);
  if (known !== undefined) {
    if (!isSameMove(known, move)) return err({ kind: "MigrationIdConflict", id: move.id });
    return isFinished(known) ? err(asEnded(known)) : ok(undefined);
  }

  const owner = ownerOf(state, move.prefix);
  if (owner === undefined) return err({ kind: "UndeclaredScope", prefixSize: move.prefix.length });
  if (owner !== move.from || owner !== self) return err({ kind: "NotOwner", owner });
  if (move.from === move.to) return err({ kind: "SameNode" });
  const other = state.snapshot.migrations.lookupMigrating(move.prefix);
  if (other !== undefined) return err({ kind: "AlreadyMigrating", id: other.id });
  // Its deadline has passed before it began.
  if (nowMs >= move.deadlineMs) return err({ kind: "Aborted", id: move.id });

  const migration = {
    ...move,
    number: latestNumber(state, move.prefix) + 1,
    epoch: state.snapshot.epoch + 1,
    inner: innerScopes(state.snapshot.table, move.prefix),
  };
  return ok({ kind: "Started", migration });
}

/** Whether the scope may be offered to the target: no admitted operation is left. */
export function decideDrain(state: NodeState, id: string, { self, nowMs, inFlight }: DeciderNow): Decided<DrainError> {
  const move = findMove(state, { id });
  if (move === undefined) return err({ kind: "UnknownMigration", id });
  if (isFinished(move)) return err(asEnded(move));
  if (move.from !== self) return err({ kind: "NotOwner", owner: move.from });
  if (state.drained.has(id)) return ok(undefined);
  // This does not abort the move; `expire` and `abort` do.
  if (nowMs >= move.deadlineMs) return err({ kind: "Aborted", id });

  const left = inFlight(move.prefix);
  return left > 0 ? err({ kind: "NotDrained", inFlight: left }) : ok({ kind: "Drained", id });
}

/** Ends the first of this node's moves that is past its deadline and not drained. */
export function decideExpire(state: NodeState, { self, nowMs }: DeciderNow): JournalEntry | undefined {
  const late = state.snapshot.migrations
    .live()
    .find(({ id, from, deadlineMs }) => from === self && nowMs >= deadlineMs && !state.drained.has(id));
  const epoch = state.snapshot.epoch + 1;
  return late && { kind: "Ended", migration: { ...late, outcome: "Aborted", endEpoch: epoch }, epoch };
}
