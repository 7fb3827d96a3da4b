import { FenceEpoch, type SplitValidationError } from "@gossip/contracts";
import { err, matchError, type Redacted, type Result } from "@gossip/stdx";
import { expectTypeOf } from "vitest";
import { adviceFor } from "./advice.ts";
import { coordError, runOpIdConflict } from "./coord-error.ts";
import type { ErrorOfKind, RunOpIdConflict } from "./error-fields.ts";
import type { ErrorKind, KindsOf, Operation, Route, Row } from "./error-routes.ts";
import { ERROR_ROUTES } from "./error-routes.ts";
import { narrowCoordError } from "./narrow-coord-error.ts";
import type * as errors from "./operation-errors.ts";

type Leased = "ShardNotFound" | "TenantMismatch" | "StaleFence" | "LeaseExpired" | "ShardTerminal";
type OfCursor =
  | "CursorRegression"
  | "CursorOutOfBounds"
  | "CursorKeyTooLarge"
  | "CursorTokenTooLarge"
  | "CheckpointMissingKey";

// The unions, whole.
expectTypeOf<errors.CoordError["kind"]>().toEqualTypeOf<Leased | "OpIdConflict" | OfCursor | "SplitInvalid">();
expectTypeOf<errors.AcquireError["kind"]>().toEqualTypeOf<
  "ShardNotFound" | "TenantMismatch" | "ShardTerminal" | "AlreadyLeased" | "BackendError" | "RunTerminal"
>();
expectTypeOf<errors.RenewError["kind"]>().toEqualTypeOf<Leased | "BackendError" | "RunTerminal">();
expectTypeOf<errors.CheckpointError["kind"]>().toEqualTypeOf<
  Leased | "OpIdConflict" | OfCursor | "ResourceExhausted" | "BackendError"
>();
expectTypeOf<errors.CompleteError>().toEqualTypeOf<errors.CheckpointError>();
expectTypeOf<errors.ParkError["kind"]>().toEqualTypeOf<Leased | "OpIdConflict" | "BackendError">();
expectTypeOf<errors.ReleaseError>().toEqualTypeOf<errors.ParkError>();
expectTypeOf<errors.SplitError["kind"]>().toEqualTypeOf<
  Leased | "OpIdConflict" | "SplitInvalid" | "ResourceExhausted" | "BackendError" | "RunTerminal"
>();
expectTypeOf<errors.SplitReplaceError>().toEqualTypeOf<errors.SplitError>();
expectTypeOf<errors.SplitResidualError>().toEqualTypeOf<errors.SplitError>();
expectTypeOf<errors.ClaimError["kind"]>().toEqualTypeOf<
  "NoneAvailable" | "RunNotFound" | "TenantMismatch" | "Throttled" | "BackendError" | "RunTerminal"
>();
expectTypeOf<errors.SessionError["kind"]>().toEqualTypeOf<"SessionClosed">();
expectTypeOf<errors.CreateRunError["kind"]>().toEqualTypeOf<
  "InvalidConfig" | "RunAlreadyExists" | "RegisterShardsFailed" | "GetRunFailed" | "ConfigMismatch" | "BackendError"
>();
expectTypeOf<errors.ErrorOf<"createRun">["kind"]>().toEqualTypeOf<
  "InvalidConfig" | "RunAlreadyExists" | "BackendError"
>();
expectTypeOf<errors.RunTransitionError["kind"]>().toEqualTypeOf<
  "RunNotFound" | "TenantMismatch" | "RunTerminal" | "WrongStatus" | "OpIdConflict" | "BackendError" | "RunUnsettled"
>();
expectTypeOf<errors.ErrorOf<"cancelRun">["kind"]>().toEqualTypeOf<
  "RunNotFound" | "TenantMismatch" | "RunTerminal" | "OpIdConflict" | "BackendError"
>();
expectTypeOf<errors.UnparkError["kind"]>().toEqualTypeOf<
  "ShardNotFound" | "TenantMismatch" | "RunTerminal" | "NotParked" | "OpIdConflict" | "BackendError"
>();
expectTypeOf<errors.DeleteRunError["kind"]>().toEqualTypeOf<
  "RunNotFound" | "TenantMismatch" | "WrongStatus" | "BackendError"
>();

// Every rejected cell of the matrix, one by one.
declare function renew(error: errors.RenewError): void;
declare function checkpoint(error: errors.CheckpointError): void;
declare function complete(error: errors.CompleteError): void;
declare function park(error: errors.ParkError): void;
declare function split(error: errors.SplitError): void;
declare function of<K extends ErrorKind>(kind: K): ErrorOfKind<K>;

// @ts-expect-error renew takes no op id
renew(of("OpIdConflict"));
// @ts-expect-error renew has no cursor
renew(of("CursorRegression"));
// @ts-expect-error renew has no cursor
renew(of("CursorOutOfBounds"));
// @ts-expect-error renew has no cursor
renew(of("CursorKeyTooLarge"));
// @ts-expect-error renew has no cursor
renew(of("CursorTokenTooLarge"));
// @ts-expect-error renew has no plan
renew(of("SplitInvalid"));
// @ts-expect-error renew has no cursor
renew(of("CheckpointMissingKey"));
// @ts-expect-error checkpoint has no plan
checkpoint(of("SplitInvalid"));
// @ts-expect-error complete has no plan
complete(of("SplitInvalid"));
// @ts-expect-error park has no cursor
park(of("CursorRegression"));
// @ts-expect-error park has no cursor
park(of("CursorOutOfBounds"));
// @ts-expect-error park has no cursor
park(of("CursorKeyTooLarge"));
// @ts-expect-error park has no cursor
park(of("CursorTokenTooLarge"));
// @ts-expect-error park has no plan
park(of("SplitInvalid"));
// @ts-expect-error park has no cursor
park(of("CheckpointMissingKey"));
// @ts-expect-error a split moves no cursor
split(of("CursorRegression"));
// @ts-expect-error a split moves no cursor
split(of("CursorOutOfBounds"));
// @ts-expect-error a split moves no cursor
split(of("CursorKeyTooLarge"));
// @ts-expect-error a split moves no cursor
split(of("CursorTokenTooLarge"));
// @ts-expect-error a split moves no cursor
split(of("CheckpointMissingKey"));

// Outside the matrix: a lease that is held already is acquire's affair, and acquire presents none.
// @ts-expect-error checkpoint presents a lease and takes none
checkpoint(of("AlreadyLeased"));
declare function acquire(error: errors.AcquireError): void;
// @ts-expect-error acquire presents no fence
acquire(of("StaleFence"));
// @ts-expect-error acquire presents no lease
acquire(of("LeaseExpired"));
// @ts-expect-error finished work is taken from a run that has ended
checkpoint(of("RunTerminal"));

// What a check returns goes through to an operation that may fail so, without a conversion.
declare function validateLease(): Result<
  void,
  errors.CoordError<"TenantMismatch" | "ShardTerminal" | "StaleFence" | "LeaseExpired">
>;
declare function validateCursor(): Result<void, errors.CoordError<OfCursor>>;
function renewWith(): Result<void, errors.RenewError> {
  const leased = validateLease();
  if (!leased.ok) return leased;
  // @ts-expect-error renew has no cursor, so a failure of its check does not fit
  return validateCursor();
}
void renewWith;
expectTypeOf<errors.GetRunError>().toExtend<errors.ClaimError>();
expectTypeOf(narrowCoordError("renew", of("StaleFence"))).toEqualTypeOf<errors.RenewError>();

// A conflict on a run has no hashes to look at; one on a shard may stand for it all the same.
expectTypeOf(runOpIdConflict).returns.toEqualTypeOf<RunOpIdConflict>();
expectTypeOf<Extract<errors.RegisterShardsError, { kind: "OpIdConflict" }>>().toEqualTypeOf<RunOpIdConflict>();
expectTypeOf<errors.CoordError<"OpIdConflict">>().toExtend<errors.UnparkError>();
// @ts-expect-error the hashes of a run's conflict cannot be asked for
void runOpIdConflict(of("OpIdConflict").opId).expectedHash;

// Errors come from `coordError`, so that each can be printed.
const two = FenceEpoch.fromRaw(2n);
expectTypeOf(err(coordError("StaleFence", { presented: two, current: two }))).toExtend<
  Result<never, errors.RenewError>
>();
// @ts-expect-error a plain object would make JSON.stringify throw on its bigints
const literal: errors.RenewError = { kind: "StaleFence", presented: two, current: two };
void literal;
// @ts-expect-error a field is missing
coordError("StaleFence", { presented: two });
// @ts-expect-error a number cannot hold 64 bits
coordError("StaleFence", { presented: 1, current: two });
// @ts-expect-error an error with fields must be given them
coordError("StaleFence");
coordError("RunNotFound");
expectTypeOf<ErrorOfKind<"AlreadyLeased">["currentOwner"]>().toExtend<Redacted<bigint | undefined>>();
expectTypeOf<ErrorOfKind<"SplitInvalid">["reason"]>().toEqualTypeOf<SplitValidationError>();

// The table answers for every operation, or it does not compile.
declare const row: Row;
const [_acquire, ...withoutColumn] = row;
// @ts-expect-error a column is missing
void (withoutColumn satisfies Row);
expectTypeOf(ERROR_ROUTES.StaleFence).toExtend<Record<Operation, Route>>();
expectTypeOf<KindsOf<Operation>>().toEqualTypeOf<ErrorKind>();

// Handling is exhaustive, also for a union of one.
declare const acquireError: errors.AcquireError;
matchError(acquireError, {
  ShardNotFound: ({ shard }) => shard.run,
  TenantMismatch: () => 0n,
  ShardTerminal: () => 0n,
  AlreadyLeased: ({ leaseDeadline }) => leaseDeadline,
  RunTerminal: () => 0n,
  BackendError: () => 0n,
});
// @ts-expect-error RunTerminal has no handler
matchError(acquireError, {
  ShardNotFound: () => 0,
  TenantMismatch: () => 0,
  ShardTerminal: () => 0,
  AlreadyLeased: () => 0,
  BackendError: () => 0,
});
adviceFor(acquireError);
