import type { FinishedMigration, MigrationState } from "./migration.ts";
import type { NodeState } from "./node-state.ts";
import type { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import type { OwnershipTable } from "../table/ownership-table.ts";

/**
 * One line of a node's journal: a change, with everything needed to repeat it.
 *
 * - `Opened`: everything up to here. The first entry, and later the only one kept if the journal is shortened.
 * - `Started`: this node started to move a scope away, and quiesced it.
 * - `Drained`: no admitted operation is left, and the scope may be offered to the target. From here on the
 *   source cannot take it back alone.
 * - `Ended`: a move is over, and how.
 * - `Reloaded`: the table was replaced, by force if it changes owners.
 * - `Adopted`: the snapshot was replaced by another node's.
 */
export type JournalEntry =
  | { readonly kind: "Opened"; readonly state: NodeState }
  | { readonly kind: "Started"; readonly migration: MigrationState }
  | { readonly kind: "Drained"; readonly id: string }
  | { readonly kind: "Ended"; readonly migration: FinishedMigration; readonly epoch: number }
  | { readonly kind: "Reloaded"; readonly table: OwnershipTable; readonly epoch: number; readonly isForced: boolean }
  | { readonly kind: "Adopted"; readonly snapshot: OwnershipSnapshot };
