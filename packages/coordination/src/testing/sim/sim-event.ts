import { adviceFor, type AnyCoordError } from "@gossip/coordination-errors";

/** Why an operation was not executed. The last four are additions. */
export const REJECTION_KINDS = [
  "NotLeased",
  "StaleFence",
  "LeaseExpired",
  "TerminalState",
  "CursorRegression",
  "CursorOutOfBounds",
  "CursorKeyTooLarge",
  "CursorTokenTooLarge",
  "WorkerPaused",
  "NoShardsHeld",
  "OpIdConflict",
  "ShardNotFound",
  "TenantMismatch",
  "AlreadyLeased",
  "CheckpointMissingKey",
  "SplitValidation",
  "NotParked",
  "NoStaleLease",
  "NoPriorCheckpoint",
  "WorkerNotFound",
  "RunNotFound",
  "WrongRunStatus",
  "ResourceExhausted",
  "Other",
  "RunTerminal",
  "RunUnsettled",
  "StoreFailed",
  "NothingToRetry",
] as const;

export type RejectionKind = (typeof REJECTION_KINDS)[number];

/** The outcomes of an operation. The last seven are additions. */
export const SIM_EVENT_KINDS = [
  "AcquireOk",
  "RenewOk",
  "CheckpointOk",
  "CompleteOk",
  "ParkOk",
  "SplitReplaceOk",
  "SplitResidualOk",
  "ReplayedOk",
  "ClaimOk",
  "ClaimNoneAvailable",
  "ClaimThrottled",
  "Rejected",
  "TimeAdvanced",
  "WorkerPaused",
  "WorkerResumed",
  "Skipped",
  "SessionLifecycleOk",
  "SessionLifecyclePartial",
  "UnparkOk",
  "RunTerminalOk",
  "ReleaseOk",
  "WorkerCrashed",
  "ClockSkewed",
  "RunCreatedOk",
  "RunDeletedOk",
  "UnderWay",
  "Abandoned",
] as const;

export type SimEventKind = (typeof SIM_EVENT_KINDS)[number];

/** The outcome of an operation. `detail` is the same in every replay. */
export type SimEvent =
  | { readonly kind: Exclude<SimEventKind, "Rejected">; readonly detail?: string }
  | { readonly kind: "Rejected"; readonly rejection: RejectionKind };

export function rejected(rejection: RejectionKind): SimEvent {
  return { kind: "Rejected", rejection };
}

export function formatEvent(event: SimEvent): string {
  if (event.kind === "Rejected") return `Rejected ${event.rejection}`;
  return event.detail === undefined ? event.kind : `${event.kind} ${event.detail}`;
}

type ErrorKind = AnyCoordError["kind"];

/** The kinds of errors that are not `Other`. */
const REJECTION_OF: Partial<Readonly<Record<ErrorKind, RejectionKind>>> = {
  StaleFence: "StaleFence",
  LeaseExpired: "LeaseExpired",
  ShardTerminal: "TerminalState",
  CursorRegression: "CursorRegression",
  CursorOutOfBounds: "CursorOutOfBounds",
  CursorKeyTooLarge: "CursorKeyTooLarge",
  CursorTokenTooLarge: "CursorTokenTooLarge",
  OpIdConflict: "OpIdConflict",
  ShardNotFound: "ShardNotFound",
  TenantMismatch: "TenantMismatch",
  AlreadyLeased: "AlreadyLeased",
  CheckpointMissingKey: "CheckpointMissingKey",
  SplitInvalid: "SplitValidation",
  NotParked: "NotParked",
  RunNotFound: "RunNotFound",
  WrongStatus: "WrongRunStatus",
  ResourceExhausted: "ResourceExhausted",
  RunTerminal: "RunTerminal",
  RunUnsettled: "RunUnsettled",
  BackendError: "StoreFailed",
};

/** The event of an operation that the coordinator refused. */
export function refused(error: AnyCoordError): SimEvent {
  // Every error has advice for its caller: this throws if it has none.
  adviceFor(error);
  return rejected(REJECTION_OF[error.kind] ?? "Other");
}
