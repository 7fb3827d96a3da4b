import { InfraError, type AnyCoordError, type ErrorKind } from "@gossip/coordination-errors";

/**
 * The HTTP status of each kind of error: 404 for what does not exist, 409 for fences and conflicts, 422 for a request that
 * can never succeed, 429 and 503 for one that can succeed later.
 */
const STATUS: Readonly<Record<Exclude<ErrorKind, "RegisterShardsFailed" | "GetRunFailed" | "BackendError">, number>> = {
  ShardNotFound: 404,
  TenantMismatch: 404,
  RunNotFound: 404,

  StaleFence: 409,
  LeaseExpired: 409,
  ShardTerminal: 409,
  OpIdConflict: 409,
  AlreadyLeased: 409,
  NoneAvailable: 409,
  SessionClosed: 409,
  RunTerminal: 409,
  RunUnsettled: 409,
  WrongStatus: 409,
  NotParked: 409,
  RunAlreadyExists: 409,
  ConfigMismatch: 409,
  ShardLimitExceeded: 409,

  CursorRegression: 422,
  CursorOutOfBounds: 422,
  CursorKeyTooLarge: 422,
  CursorTokenTooLarge: 422,
  SplitInvalid: 422,
  CheckpointMissingKey: 422,
  InvalidConfig: 422,
  ManifestInvalid: 422,

  Throttled: 429,
  ResourceExhausted: 503,
};

/** The status of a coordination error. */
export function statusOf(error: AnyCoordError): number {
  if (error.kind === "RegisterShardsFailed" || error.kind === "GetRunFailed") return statusOf(error.reason);
  if (error.kind === "BackendError") return InfraError.isTransient(error.reason) ? 503 : 500;
  return STATUS[error.kind];
}

/** The status of each kind, for the pages. */
export const ERROR_STATUS: Readonly<Record<ErrorKind, string>> = {
  ...(Object.fromEntries(Object.entries(STATUS).map(([kind, status]) => [kind, String(status)])) as Record<
    keyof typeof STATUS,
    string
  >),
  RegisterShardsFailed: "of its reason",
  GetRunFailed: "of its reason",
  BackendError: "503, or 500 for corruption",
};
