import type { MigrationError } from "./migration-error.ts";

/** The snapshot is older than the node's own, or is as old and differs. Nothing was taken from it. */
export interface StaleSnapshot {
  readonly kind: "StaleSnapshot";
  readonly offeredEpoch: number;
  readonly currentEpoch: number;
}

/** A scope that would come to this node, or go from it, without a move. */
export interface OwnerChange {
  readonly prefix: Uint8Array;
  readonly from: string;
  readonly to: string;
}

/**
 * The table would give this node a scope of another's, or take one away, behind the back of the other.
 *
 * A node that has not heard of it would go on writing. Only a move changes an owner; `{ force: true }`
 * is for a former owner that is known to have stopped for good. (An addition.)
 */
export interface OwnerChanged {
  readonly kind: "OwnerChanged";
  readonly changes: readonly OwnerChange[];
}

/** Another change of this node is waiting to be applied or discarded. (An addition.) */
export interface ChangePending {
  readonly kind: "ChangePending";
}

/** The journal cannot have been written by a node: the entry at this position does not follow. */
export interface CorruptJournal {
  readonly kind: "CorruptJournal";
  readonly position: number;
}

export type StartError =
  | MigrationError<
      | "MigrationIdConflict"
      | "AlreadyCommitted"
      | "Aborted"
      | "UndeclaredScope"
      | "NotOwner"
      | "SameNode"
      | "AlreadyMigrating"
    >
  | ChangePending;

export type DrainError =
  | MigrationError<"UnknownMigration" | "AlreadyCommitted" | "Aborted" | "NotOwner" | "NotDrained">
  | ChangePending;

export type CommitError =
  | MigrationError<
      | "NotTarget"
      | "MigrationIdConflict"
      | "Aborted"
      | "AlreadyMigrating"
      | "Superseded"
      | "UndeclaredScope"
      | "NotOwner"
      | "InnerScopesDiffer"
    >
  | ChangePending;

export type AbortError =
  | MigrationError<
      | "MigrationIdConflict"
      | "AlreadyCommitted"
      | "UnknownMigration"
      | "AwaitingTarget"
      | "NotTarget"
      | "AlreadyMigrating"
      | "Superseded"
    >
  | ChangePending;

export type SettleError =
  | MigrationError<
      | "MigrationIdConflict"
      | "AlreadyCommitted"
      | "Aborted"
      | "UnknownMigration"
      | "NotDrained"
      | "AlreadyMigrating"
      | "Superseded"
    >
  | ChangePending;

export type ReloadError = MigrationError<"AlreadyMigrating"> | OwnerChanged | ChangePending;

export type AdoptError =
  | StaleSnapshot
  | MigrationError<"AlreadyMigrating" | "UnknownMigration">
  | OwnerChanged
  | ChangePending;
