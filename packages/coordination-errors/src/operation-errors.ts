import type { ErrorOfKind, RunError } from "./error-fields.ts";
import type { CoordErrorKind, KindsOf, Operation, RunOperation } from "./error-routes.ts";

/** How `Op` can fail; several operations give the union of theirs. */
export type ErrorOf<Op extends Operation> =
  | ErrorOfKind<KindsOf<Exclude<Op, RunOperation>>>
  | RunError<KindsOf<Extract<Op, RunOperation>>>;

/** How anything here can fail. */
export type AnyCoordError = ErrorOf<Operation>;

/**
 * What the checks that leased operations share can find wrong.
 *
 * A check returns the kinds that it can produce and no more, `CoordError<"StaleFence" | "LeaseExpired">`: its result
 * then fits an operation exactly if the operation may fail so; otherwise it does not compile.
 */
export type CoordError<Kind extends CoordErrorKind = CoordErrorKind> = ErrorOfKind<Kind>;

export type AcquireError = ErrorOf<"acquire">;
export type ClaimError = ErrorOf<"claim">;
export type RenewError = ErrorOf<"renew">;
export type CheckpointError = ErrorOf<"checkpoint">;
export type CompleteError = ErrorOf<"complete">;
export type ParkError = ErrorOf<"park">;
/** *Addition.* */
export type ReleaseError = ErrorOf<"release">;
export type SplitError = ErrorOf<"split">;
export type SplitReplaceError = SplitError;
export type SplitResidualError = SplitError;
/** What a worker session returns on its own. *Addition.* */
export type SessionError = ErrorOf<"session">;

/** How a run is created, with shards or without. */
export type CreateRunError = ErrorOf<"createRun" | "createRunWithShards">;
export type RegisterShardsError = ErrorOf<"registerShards">;
/** Shared by every query of one run. */
export type GetRunError = ErrorOf<"getRun">;
export type RunTransitionError = ErrorOf<"completeRun" | "failRun" | "cancelRun">;
export type UnparkError = ErrorOf<"unpark">;
/** *Addition.* */
export type DeleteRunError = ErrorOf<"deleteRun">;

/** The store failed. Every operation can return it; operations outside the table, such as listings, return nothing else. */
export type BackendError = ErrorOfKind<"BackendError">;
