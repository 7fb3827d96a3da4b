import { err, ok, type Err } from "@gossip/stdx";
import type { Decided, Decider } from "./decide-source.ts";
import type { Decision, Offer } from "./handover.ts";
import { innerScopes } from "../table/inner-scopes.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { isFinished, isSameMove, type MigrationOutcome, type MigrationState } from "./migration.ts";
import type { MigrationError, AbortError, CommitError, SettleError } from "./node-error.ts";
import { findMove, latestNumber, ownerOf, unsettledMove, type NodeState } from "./node-state.ts";

/**
 * Whether this node takes the scope that it is offered.
 *
 * This is the commit point of the move: the source has let go, and no other node may decide.
 */
export function decideCommit(state: NodeState, { migration }: Offer, { self, nowMs }: Decider): Decided<CommitError> {
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
  // Of a move that we missed we know nothing but that it was: then the offer knows better than our table.
  const hasMissedMoves = number > latestNumber(state, prefix) + 1;
  if (owner !== from && (owner === self || !hasMissedMoves)) return err({ kind: "NotOwner", owner });
  if (innerScopes(state.snapshot.table, prefix) !== migration.inner) return err({ kind: "InnerScopesDiffer" });
  if (nowMs >= migration.deadlineMs) return err({ kind: "Aborted", id });
  return ok(end(state, migration, "Committed"));
}

/** Whether this node gives a move up: as its source while it is in its hands, as its target until it is decided. */
export function decideAbort(
  state: NodeState,
  migration: MigrationState,
  { self }: Pick<Decider, "self">,
): Decided<AbortError> {
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
  // Also a move that this node never heard of: its source asks because an offer may be under way, and must not be taken later.
  return untimely(state, migration) ?? ok(end(state, migration, "Aborted"));
}

/**
 * Whether this node goes by what another has decided.
 *
 * A target never learns its own decision from others: it would have forgotten what came after it.
 */
export function decideSettle(
  state: NodeState,
  { migration }: Decision,
  { self, inFlight }: Pick<Decider, "self"> & { readonly inFlight: (prefix: Uint8Array) => number },
): Decided<SettleError> {
  const { id, prefix, from, to, outcome } = migration;
  const known = findMove(state, migration);
  if (known !== undefined) {
    if (!isSameMove(known, migration)) return err({ kind: "MigrationIdConflict", id });
    if (isFinished(known) && known.outcome === outcome) return ok(undefined);
    if (isFinished(known)) return err({ kind: known.outcome === "Committed" ? "AlreadyCommitted" : "Aborted", id });
  }
  if (from === self && known === undefined) return err({ kind: "UnknownMigration", id });
  if (to === self && outcome === "Committed") return err({ kind: "UnknownMigration", id });
  // No target can have taken what was never offered; if one did all the same, what is in flight here would be lost.
  if (from === self && outcome === "Committed" && !state.drained.has(id))
    return err({ kind: "NotDrained", inFlight: inFlight(prefix) });
  return (
    untimely(state, migration) ??
    ok({ kind: "Ended", migration, epoch: Math.max(state.snapshot.epoch + 1, migration.endEpoch) })
  );
}

/** A refusal where the move comes too late, after another of the same or a higher number; or too early, before one of our own has ended. */
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

/** This node decides. Its epoch becomes higher than any that the move has seen. */
function end(state: NodeState, migration: MigrationState, outcome: MigrationOutcome): JournalEntry {
  const epoch = Math.max(state.snapshot.epoch, migration.epoch) + 1;
  return { kind: "Ended", migration: { ...migration, outcome, endEpoch: epoch }, epoch };
}
