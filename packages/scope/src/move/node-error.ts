/** The fields of each error of a step. Contains sizes of prefixes, and node ids that routing shows anyway. */
interface MigrationErrorFields {
  /** No scope has exactly this prefix. */
  UndeclaredScope: { readonly prefixSize: number };
  /** Another node than `from` owns the scope. */
  NotOwner: { readonly owner: string };
  /** `from` and `to` are the same node. */
  SameNode: object;
  /** Another move of this scope is in progress, or waits for its target's decision. */
  AlreadyMigrating: { readonly id: string };
  /** The id is known, with other parameters. */
  MigrationIdConflict: { readonly id: string };
  /** Operations that were admitted before the move have not been released. */
  NotDrained: { readonly inFlight: number };
  AlreadyCommitted: { readonly id: string };
  Aborted: { readonly id: string };
  /** This node does not know the move. (An addition.) */
  UnknownMigration: { readonly id: string };
  /** The source has drained: only the target's decision can end the move. (An addition.) */
  AwaitingTarget: { readonly target: string };
  /** The offer or request is for another node. (An addition.) */
  NotTarget: { readonly target: string };
  /** Source and target have different scopes nested in this one, so the move would not cover the same keys. (An addition.) */
  InnerScopesDiffer: object;
  /** A later move of this prefix has been decided here. (An addition.) */
  Superseded: { readonly number: number; readonly latest: number };
}

export type MigrationErrorKind = keyof MigrationErrorFields;

/** An error of one of the given kinds; of any kind by default. */
export type MigrationError<Kind extends MigrationErrorKind = MigrationErrorKind> = {
  [K in Kind]: { readonly kind: K } & MigrationErrorFields[K];
}[Kind];

/** The snapshot is older than the node's own, or has the same epoch and differs. The node keeps its own. */
export interface StaleSnapshot {
  readonly kind: "StaleSnapshot";
  readonly offeredEpoch: number;
  readonly currentEpoch: number;
}

/** A scope that this node would gain or lose without a move. */
export interface OwnerChange {
  readonly prefix: Uint8Array;
  readonly from: string;
  readonly to: string;
}

/**
 * The table would give this node a scope of another node, or take one away, without a move.
 *
 * A node that does not know it would keep writing. Only a move changes an owner; use `{ force: true }`
 * if the former owner is known to have stopped for good. (An addition.)
 */
export interface OwnerChanged {
  readonly kind: "OwnerChanged";
  readonly changes: readonly OwnerChange[];
}

/** Another change of this node is waiting to be applied or discarded. (An addition.) */
export interface ChangePending {
  readonly kind: "ChangePending";
}

/** No node wrote this journal: the entry at this position does not follow from the previous ones. */
export interface CorruptJournal {
  readonly kind: "CorruptJournal";
  readonly position: number;
}

/** The id is known: with other parameters, or the move is over. */
type Known = "MigrationIdConflict" | "AlreadyCommitted" | "Aborted";

/** Another move of the prefix comes first, or came later. */
type Untimely = "AlreadyMigrating" | "Superseded";

type StepError<Kind extends MigrationErrorKind> = MigrationError<Kind> | ChangePending;

export type StartError = StepError<Known | "UndeclaredScope" | "NotOwner" | "SameNode" | "AlreadyMigrating">;

export type DrainError = StepError<
  Exclude<Known, "MigrationIdConflict"> | "UnknownMigration" | "NotOwner" | "NotDrained"
>;

export type CommitError = StepError<
  Exclude<Known, "AlreadyCommitted"> | Untimely | "NotTarget" | "UndeclaredScope" | "NotOwner" | "InnerScopesDiffer"
>;

export type AbortError = StepError<
  Exclude<Known, "Aborted"> | Untimely | "UnknownMigration" | "AwaitingTarget" | "NotTarget"
>;

export type SettleError = StepError<Known | Untimely | "UnknownMigration" | "NotDrained">;

export type ReloadError = StepError<"AlreadyMigrating"> | OwnerChanged;

export type AdoptError = StepError<"AlreadyMigrating" | "UnknownMigration"> | StaleSnapshot | OwnerChanged;
