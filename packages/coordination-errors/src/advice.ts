import type { LogicalTime } from "@gossip/contracts";
import type { ErrorOfKind } from "./error-fields.ts";
import { assertErrorKind, isErrorKind } from "./error-kind.ts";
import type { ErrorKind } from "./error-routes.ts";
import { isObject } from "./field-codec.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/**
 * What a caller should do about an error.
 *
 * - `WaitUntil`     — ask again at the time that `waitUntil` gives.
 * - `Reacquire`     — the lease is lost. Drop all local work on the shard and claim again.
 * - `RetrySameOpId` — back off, then repeat the call with the same op id and payload. It may have been done; it is not
 *   done twice.
 * - `Stop`          — there is nothing left to do here.
 * - `FixCaller`     — the call is wrong. A retry fails the same way; the program or its arguments must change.
 * - `Report`        — no caller can fix it: an operator has to investigate.
 *
 * The set is closed. A new kind of error gets one of these, so code that goes by advice keeps working.
 */
export type Advice = "WaitUntil" | "Reacquire" | "RetrySameOpId" | "Stop" | "FixCaller" | "Report";

/** Where the kind alone does not decide: every advice it may get, and the choice. */
export interface AdviceByCase<K extends ErrorKind> {
  readonly cases: readonly Advice[];
  choose(error: ErrorOfKind<K>): Advice;
}

export const ADVICE: { readonly [K in ErrorKind]: Advice | AdviceByCase<K> } = {
  ShardNotFound: "Report",
  TenantMismatch: "Report",
  StaleFence: "Reacquire",
  LeaseExpired: "Reacquire",
  ShardTerminal: "Stop",
  OpIdConflict: "FixCaller",
  CursorRegression: "FixCaller",
  CursorOutOfBounds: "FixCaller",
  CursorKeyTooLarge: "FixCaller",
  CursorTokenTooLarge: "FixCaller",
  SplitInvalid: "FixCaller",
  CheckpointMissingKey: "FixCaller",

  AlreadyLeased: "WaitUntil",
  // Deleting runs gives slab space back, so a later try can succeed.
  ResourceExhausted: "RetrySameOpId",
  NoneAvailable: {
    cases: ["WaitUntil", "Stop"],
    choose: ({ earliestDeadline }) => (earliestDeadline === undefined ? "Stop" : "WaitUntil"),
  },
  Throttled: "WaitUntil",
  SessionClosed: "Stop",

  RunNotFound: "Stop",
  RunTerminal: "Stop",
  RunUnsettled: "FixCaller",
  WrongStatus: "FixCaller",
  NotParked: "Stop",
  RunAlreadyExists: "FixCaller",
  InvalidConfig: "FixCaller",
  ConfigMismatch: "FixCaller",
  ManifestInvalid: "FixCaller",
  ShardLimitExceeded: "Report",
  RegisterShardsFailed: {
    cases: ["Stop", "FixCaller", "Report", "RetrySameOpId"],
    choose: ({ reason }) => adviceForReason(reason),
  },
  GetRunFailed: { cases: ["Stop", "Report", "RetrySameOpId"], choose: ({ reason }) => adviceForReason(reason) },

  BackendError: {
    cases: ["RetrySameOpId", "Report"],
    choose: ({ reason }) => (isObject(reason) && reason.kind === "Transient" ? "RetrySameOpId" : "Report"),
  },
};

/** What to do about an error. Hot: allocates nothing. It also takes an error that lost its prototype. */
export function adviceFor(error: AnyCoordError): Advice {
  assertErrorKind(error, "what advice is asked for");
  const advice = ADVICE[error.kind];
  return typeof advice === "string" ? advice : (advice as AdviceByCase<ErrorKind>).choose(error as ErrorOfKind);
}

// Callers ask for advice while they handle a failure. A malformed reason must not cause a second failure.
function adviceForReason(reason: AnyCoordError): Advice {
  return isObject(reason) && isErrorKind(reason.kind) ? adviceFor(reason as AnyCoordError) : "Report";
}

/** When to ask again: known exactly where the advice is `WaitUntil`. Allocates nothing. */
export function waitUntil(error: AnyCoordError): LogicalTime | undefined {
  assertErrorKind(error, "what a time is asked for");
  if (error.kind === "AlreadyLeased") return error.leaseDeadline;
  if (error.kind === "NoneAvailable") return error.earliestDeadline;
  if (error.kind === "Throttled") return error.retryAfter;
  return undefined;
}
