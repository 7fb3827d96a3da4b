import { err, ok, type Err } from "@gossip/stdx";
import type { Decided, Decider, DeciderNow } from "./decide-source.ts";
import type { Decision, Offer } from "./handover.ts";
import { innerScopes } from "../table/inner-scopes.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { asEnded, isFinished, isSameMove, type MigrationOutcome, type MigrationState } from "./migration.ts";
import type { MigrationError, AbortError, CommitError, SettleError } from "./node-error.ts";
import { findMove, latestNumber, ownerOf, unsettledMove, type NodeState } from "./node-state.ts";

/**
 * Whether this node takes the scope that it is offered.
 *
 * This is the commit point of the move: the source has drained, and no other node may decide.
 */
export function decideCommit(
  state: NodeState,
  { migration }: Offer,
  { self, nowMs }: DeciderNow,
): Decided<CommitError> {
  const { id, prefix, from, to, number } = migration;
  if (to !== self) return err({ kind: "NotTarget", target: to });
  const known = findMove(state, migration);
  if (known !== undefined) {
    if (!isSameMove(known, migration)) return err({ kind: "MigrationIdConflict", id });
    if (isFinished(known)) return known.outcome === "Committed" ? ok(undefined) : err({ kind: "Aborted", id });
  }
  const late = untimely(state, migration);
  if (late !== undefined) return late;

  const owner = ownerOf(state, prefix);
  if (owner === undefined) return err({ kind: "UndeclaredScope", prefixSize: prefix.length });
  // A gap in the numbers proves that this node missed moves. Then the offer is newer than its table.
  const hasMissedMoves = number > latestNumber(state, prefix) + 1;
  if (owner !== from && (owner === self || !hasMissedMoves)) return err({ kind: "NotOwner", owner });
  if (innerScopes(state.snapshot.table, prefix) !== migration.inner) return err({ kind: "InnerScopesDiffer" });
  if (nowMs >= migration.deadlineMs) return err({ kind: "Aborted", id });
  return ok(end(state, migration, "Committed"));
}

/** Whether this node aborts a move: as its source before it has drained, as its target before it has decided. */
export function decideAbort(state: NodeState, migration: MigrationState, { self }: Decider): Decided<AbortError> {
  const { id, from, to } = migration;
  const known = findMove(state, migration);
  if (known !== undefined) {
    if (!isSameMove(known, migration)) return err({ kind: "MigrationIdConflict", id });
    if (isFinished(known)) return known.outcome === "Aborted" ? ok(undefined) : err({ kind: "AlreadyCommitted", id });
  }
  if (from === self) {
    if (known === undefined) return err({ kind: "UnknownMigration", id });
    if (state.drained.has(id)) return err({ kind: "AwaitingTarget", target: to });
    return ok(end(state, known, "Aborted"));
  }
  if (to !== self) return err({ kind: "NotTarget", target: to });
  // Also a move that this node does not know: its source asks because an offer may be in flight, which must not be taken later.
  return untimely(state, migration) ?? ok(end(state, migration, "Aborted"));
}

/**
 * Whether this node applies the decision of another.
 *
 * A target never accepts its own decision from others: it may have forgotten what came after it.
 */
export function decideSettle(
  state: NodeState,
  { migration }: Decision,
  { self, inFlight }: Decider,
): Decided<SettleError> {
  const { id, prefix, from, to, outcome } = migration;
  const known = findMove(state, migration);
  if (known !== undefined) {
    if (!isSameMove(known, migration)) return err({ kind: "MigrationIdConflict", id });
    if (isFinished(known)) return known.outcome === outcome ? ok(undefined) : err(asEnded(known));
  }
  if (from === self && known === undefined) return err({ kind: "UnknownMigration", id });
  if (to === self && outcome === "Committed") return err({ kind: "UnknownMigration", id });
  // A target cannot have taken what was never offered. If it did, operations in flight here would be lost.
  if (from === self && outcome === "Committed" && !state.drained.has(id))
    return err({ kind: "NotDrained", inFlight: inFlight(prefix) });
  return (
    untimely(state, migration) ??
    ok({ kind: "Ended", migration, epoch: Math.max(state.snapshot.epoch + 1, migration.endEpoch) })
  );
}

/** Refuses a move that is too late (another has the same or a higher number) or too early (one of our own has not ended). */
function untimely(
  state: NodeState,
  { id, prefix, number }: MigrationState,
): Err<MigrationError<"Superseded" | "AlreadyMigrating">> | undefined {
  const unsettled = unsettledMove(state, { id, prefix });
  if (unsettled !== undefined) return err({ kind: "AlreadyMigrating", id: unsettled.id });
  const latest = latestNumber(state, prefix);
  if (number > latest || (number === latest && findMove(state, { id, prefix }) !== undefined)) return undefined;
  return err({ kind: "Superseded", number, latest });
}

/** The decision of this node. Its epoch becomes higher than the move's. */
function end(state: NodeState, migration: MigrationState, outcome: MigrationOutcome): JournalEntry {
  const epoch = Math.max(state.snapshot.epoch, migration.epoch) + 1;
  return { kind: "Ended", migration: { ...migration, outcome, endEpoch: epoch }, epoch };
}
