import { TAKEOVER_LEAP } from "../limits.ts";
import type { MigrationState } from "./migration.ts";
import { MigrationTable } from "./migration-table.ts";
import { ScopeIndex } from "../find/scope-index.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { indexOf, tableOf, type OwnershipTable } from "../table/ownership-table.ts";
import { prefixText } from "../text-bytes.ts";
import { prefixBytes, Scope } from "../table/scope.ts";

/**
 * Everything that a node must keep across a crash.
 *
 * Immutable: `evolve` makes the next state from a journal entry.
 */
export interface NodeState {
  readonly snapshot: OwnershipSnapshot;
  /** Ids of this node's drained moves: only their targets may end them. */
  readonly drained: ReadonlySet<string>;
  /** By the text of a prefix, the latest move that this node started or knows the end of. Never removed. */
  readonly latest: ReadonlyMap<string, MigrationState>;
  /** By the text of a prefix that a forced reload gave to another owner, the number that its next move must exceed. */
  readonly floors: ReadonlyMap<string, number>;
  /** The last owner of each prefix that is no longer declared, by the text of the prefix. */
  readonly retired: ReadonlyMap<string, string>;
}

export function initialState(table: OwnershipTable): NodeState {
  return {
    snapshot: OwnershipSnapshot.initial(table),
    drained: new Set(),
    latest: new Map(),
    floors: new Map(),
    retired: new Map(),
  };
}

/** The owner of exactly this prefix. */
export function ownerOf({ snapshot }: NodeState, prefix: Uint8Array): string | undefined {
  const index = indexOf(snapshot.table);
  const position = index.positionOf(prefix);
  return position < 0 ? undefined : index.scopes[position]!.writer;
}

/** What this node knows about a move, even if the snapshot no longer has it. */
export function findMove(
  { snapshot, latest }: NodeState,
  { id, prefix }: { readonly id: string; readonly prefix?: Uint8Array },
): MigrationState | undefined {
  const remembered = snapshot.migrations.get(id);
  if (remembered !== undefined) return remembered;
  if (prefix !== undefined) {
    const last = latest.get(prefixText(prefix));
    return last?.id === id ? last : undefined;
  }
  for (const move of latest.values()) if (move.id === id) return move;
  return undefined;
}

/**
 * Another move of this prefix that this node has drained and not settled.
 *
 * A later move proves that the target took the scope, but this node has no decision yet. Until it settles its
 * own move it must not apply another one, or it would consider itself the owner again.
 */
export function unsettledMove(
  { snapshot, drained }: NodeState,
  { id, prefix }: { readonly id: string; readonly prefix: Uint8Array },
): MigrationState | undefined {
  const live = snapshot.migrations.lookupMigrating(prefix);
  return live !== undefined && live.id !== id && drained.has(live.id) ? live : undefined;
}

/** The number of the latest known move of a prefix; 0 before the first. */
export function latestNumber({ latest, floors }: NodeState, prefix: Uint8Array): number {
  const text = prefixText(prefix);
  return Math.max(latest.get(text)?.number ?? 0, floors.get(text) ?? 0);
}

/** The same table with another writer for one scope. A fallback that becomes the writer stops being a fallback. */
export function withWriter(table: OwnershipTable, prefix: Uint8Array, writer: string): OwnershipTable {
  const index = indexOf(table);
  const position = index.positionOf(prefix);
  if (position < 0) return table;
  const { fallback } = index.scopes[position]!;
  const moved = new Scope({ prefix, writer, fallback: fallback === writer ? undefined : fallback });
  return tableOf(new ScopeIndex(index.scopes.with(position, moved), index.nested, index.prefixes));
}

/** The last owners of prefixes that `before` declares and `after` does not, added to those retired earlier. */
export function retire(
  retired: ReadonlyMap<string, string>,
  before: OwnershipTable,
  after: OwnershipTable,
): ReadonlyMap<string, string> {
  const result = new Map(retired);
  for (const scope of indexOf(before).scopes) result.set(prefixText(prefixBytes(scope)), scope.writer);
  for (const scope of indexOf(after).scopes) result.delete(prefixText(prefixBytes(scope)));
  return result;
}

/** The floors after a forced reload: higher for every scope that changes its owner. */
export function raiseFloors(state: NodeState, after: OwnershipTable): ReadonlyMap<string, number> {
  const floors = new Map(state.floors);
  for (const scope of indexOf(after).scopes) {
    const prefix = prefixBytes(scope);
    if (ownerOf(state, prefix) !== scope.writer)
      floors.set(prefixText(prefix), latestNumber(state, prefix) + TAKEOVER_LEAP);
  }
  return floors;
}

/** The moves of an adopted snapshot, together with the finished moves that the node already knew. */
export function joinMigrations(own: MigrationTable, adopted: MigrationTable): MigrationTable {
  return MigrationTable.from({
    live: adopted.live(),
    migrated: adopted.migrated(),
    finished: [...own.finished(), ...adopted.finished()],
  });
}
