import { err, ok } from "@gossip/stdx";
import type { Decided, Decider } from "./decide-source.ts";
import { innerScopes } from "../table/inner-scopes.ts";
import { isFinished, type MigrationState } from "./migration.ts";
import type { AdoptError, ReloadError, StaleSnapshot } from "./node-error.ts";
import { findMove, latestNumber, type NodeState } from "./node-state.ts";
import type { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { indexOf, type OwnershipTable } from "../table/ownership-table.ts";
import { ownerChanges } from "./owner-changes.ts";
import { prefixBytes } from "../table/scope.ts";

/** Whether the table may be replaced by another. */
export function decideReload(
  state: NodeState,
  table: OwnershipTable,
  { self, force }: Decider & { readonly force: boolean },
): Decided<ReloadError> {
  const { snapshot } = state;
  for (const move of snapshot.migrations.live()) {
    if (!keepsScope(table, move)) return err({ kind: "AlreadyMigrating", id: move.id });
  }
  const changes = force ? [] : ownerChanges(state, table, self);
  return changes.length > 0
    ? err({ kind: "OwnerChanged", changes })
    : ok({ kind: "Reloaded", table, epoch: snapshot.epoch + 1, isForced: force });
}

/**
 * Whether the snapshot may be replaced by another node's.
 *
 * It must not change what this node decides itself: what it owns, and how the moves end that it takes part in.
 */
export function decideAdopt(state: NodeState, offered: OwnershipSnapshot, { self }: Decider): Decided<AdoptError> {
  const own = state.snapshot;
  const stale: StaleSnapshot = { kind: "StaleSnapshot", offeredEpoch: offered.epoch, currentEpoch: own.epoch };
  if (offered.epoch < own.epoch) return err(stale);
  if (offered.epoch === own.epoch) return isSame(own, offered) ? ok(undefined) : err(stale);

  const theirs = offered.migrations.live();
  for (const move of own.migrations.live()) {
    const { id, from, to } = move;
    const isParty = from === self || to === self;
    if (isParty && !(theirs.some((other) => other.id === id) && keepsScope(offered.table, move)))
      return err({ kind: "AlreadyMigrating", id });
  }
  for (const move of theirs) {
    if (isPast(state, move)) return err(stale);
    if (move.from === self && findMove(state, move) === undefined)
      return err({ kind: "UnknownMigration", id: move.id });
  }
  const changes = ownerChanges(state, offered.table, self);
  return changes.length > 0 ? err({ kind: "OwnerChanged", changes }) : ok({ kind: "Adopted", snapshot: offered });
}

/** Whether a table keeps a moving scope: the same owner and the same keys. */
function keepsScope(table: OwnershipTable, { prefix, from, inner }: MigrationState): boolean {
  const index = indexOf(table);
  const position = index.positionOf(prefix);
  return position >= 0 && index.scopes[position]!.writer === from && innerScopes(table, prefix) === inner;
}

/** Whether this node knows the end of a move, or of a later move of the same prefix. */
function isPast(state: NodeState, move: MigrationState): boolean {
  const known = findMove(state, move);
  return known === undefined ? latestNumber(state, move.prefix) >= move.number : isFinished(known);
}

function isSame(a: OwnershipSnapshot, b: OwnershipSnapshot): boolean {
  return isSameTable(a.table, b.table) && idsOf(a) === idsOf(b);
}

function idsOf({ migrations }: OwnershipSnapshot): string {
  const ids = migrations.live().map(({ id }) => id);
  return JSON.stringify(ids.sort());
}

function isSameTable(a: OwnershipTable, b: OwnershipTable): boolean {
  if (a === b) return true;
  if (a.size !== b.size || a.nested !== b.nested) return false;
  const other = indexOf(b);
  return indexOf(a).scopes.every((scope) => {
    const position = other.positionOf(prefixBytes(scope));
    return position >= 0 && other.scopes[position]!.equals(scope);
  });
}
