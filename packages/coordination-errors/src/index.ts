export type { ManifestValidationError, SplitValidationError } from "@gossip/contracts";
export { ADVICE, adviceFor, waitUntil, type Advice } from "./advice.ts";
export { coordError, runOpIdConflict, type ErrorInput } from "./coord-error.ts";
export {
  EXHAUSTED_RESOURCES,
  type ErrorFields,
  type ErrorJson,
  type ErrorOfKind,
  type ExhaustedResource,
  type Hidden,
  type RunConfigError,
  type RunOpIdConflict,
} from "./error-fields.ts";
export {
  COORD_ERROR_KINDS,
  ERROR_ROUTES,
  OPERATIONS,
  type CoordErrorKind,
  type ErrorKind,
  type KindsOf,
  type Operation,
  type RunOperation,
} from "./error-routes.ts";
export { IdempotentOutcome, type Executed, type Replayed } from "./idempotent-outcome.ts";
export { InfraError, type FixedText, type InfraErrorInput, type InfraErrorOf } from "./infra-error.ts";
export { messageOf } from "./message-of.ts";
export { narrowCoordError } from "./narrow-coord-error.ts";
export type {
  AcquireError,
  AnyCoordError,
  BackendError,
  CheckpointError,
  ClaimError,
  CompleteError,
  CoordError,
  CreateRunError,
  DeleteRunError,
  ErrorOf,
  GetRunError,
  ParkError,
  RegisterShardsError,
  ReleaseError,
  RenewError,
  RunTransitionError,
  SessionError,
  SplitError,
  SplitReplaceError,
  SplitResidualError,
  UnparkError,
} from "./operation-errors.ts";
export { parseCoordError, type CoordErrorParseError } from "./parse-coord-error.ts";
