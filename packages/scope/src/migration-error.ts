/** What each refusal of a step carries. Prefixes appear by size only, and nodes by the id that routing names anyway. */
interface MigrationErrorFields {
  /** No scope has exactly this prefix. */
  UndeclaredScope: { readonly prefixSize: number };
  /** The scope belongs to another node than the one that is to give it away. */
  NotOwner: { readonly owner: string };
  /** From and to are one node. */
  SameNode: object;
  /** Another move of this scope is under way, or out of this node's hands and not settled. */
  AlreadyMigrating: { readonly id: string };
  /** The id is known, with other parameters. */
  MigrationIdConflict: { readonly id: string };
  /** Operations that were admitted before the move have not been released. */
  NotDrained: { readonly inFlight: number };
  AlreadyCommitted: { readonly id: string };
  Aborted: { readonly id: string };
  /** Nobody here has heard of this move. (An addition.) */
  UnknownMigration: { readonly id: string };
  /** The source has let the move out of its hands: only the target's decision ends it. (An addition.) */
  AwaitingTarget: { readonly target: string };
  /** The offer or request is for another node. (An addition.) */
  NotTarget: { readonly target: string };
  /** Source and target know of different scopes inside this one, so that it would not be the same keys. (An addition.) */
  InnerScopesDiffer: object;
  /** A later move of this prefix has been decided here. (An addition.) */
  Superseded: { readonly number: number; readonly latest: number };
}

export type MigrationErrorKind = keyof MigrationErrorFields;

/** A refusal of one of the given kinds; of any kind where none is named. */
export type MigrationError<Kind extends MigrationErrorKind = MigrationErrorKind> = {
  [K in Kind]: { readonly kind: K } & MigrationErrorFields[K];
}[Kind];
