import type { FinishedMigration, MigrationState } from "./migration.ts";
import type { NodeState } from "./node-state.ts";
import type { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import type { OwnershipTable } from "../table/ownership-table.ts";

/**
 * One line of a node's journal: what has changed, with all that is needed to change it again.
 *
 * - `Opened`: everything up to here. The first entry, and later the only one kept if the journal is shortened.
 * - `Started`: this node began to give a scope away, and quiesced it.
 * - `Drained`: nothing admitted is left, and the target may be offered the scope. From here on the
 *   source cannot take it back alone.
 * - `Ended`: a move is over, and how.
 * - `Reloaded`: another table, by force where it changes owners.
 * - `Adopted`: another node's snapshot.
 */
export type JournalEntry =
  | { readonly kind: "Opened"; readonly state: NodeState }
  | { readonly kind: "Started"; readonly migration: MigrationState }
  | { readonly kind: "Drained"; readonly id: string }
  | { readonly kind: "Ended"; readonly migration: FinishedMigration; readonly epoch: number }
  | { readonly kind: "Reloaded"; readonly table: OwnershipTable; readonly epoch: number; readonly isForced: boolean }
  | { readonly kind: "Adopted"; readonly snapshot: OwnershipSnapshot };
