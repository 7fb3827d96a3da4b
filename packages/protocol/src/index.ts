export {
  optionalTime,
  readCapacity,
  readConfig,
  readProgress,
  readRun,
  readShard,
  readSnapshot,
  readSpec,
  readSummary,
} from "./codec/read-records.ts";
export {
  readFailure,
  readGrant,
  readKey,
  readMarker,
  readNewDetail,
  readNewFailure,
  readParked,
  readSettings,
  readWorker,
  readWorkerInfo,
  writeFailure,
  writeGrant,
  writeKey,
  writeMarker,
  writeNewDetail,
  writeNewFailure,
  writeParked,
  writeSettings,
  writeWorker,
  writeWorkerInfo,
} from "./codec/note-codec.ts";
export { decodeBase64Url, encodeBase64Url } from "./codec/text.ts";
export { readPosition, writePosition } from "./codec/shard-position.ts";
export { WireReader, type WireFault } from "./codec/wire-reader.ts";
export {
  writeCapacity,
  writeConfig,
  writeCursor,
  writeId,
  writeLease,
  writeProgress,
  writeRange,
  writeRun,
  writeShard,
  writeSnapshot,
  writeSummary,
} from "./codec/write-records.ts";
export {
  isProtocolErrorKind,
  PROTOCOL_ERRORS,
  protocolError,
  writeProtocolError,
  type ProtocolError,
  type ProtocolErrorKind,
} from "./errors/protocol-error.ts";
export { ERROR_STATUS, statusOf } from "./errors/status-of.ts";
export { writeCoordError } from "./errors/write-coord-error.ts";
export { makeOpenApi } from "./openapi/make-open-api.ts";
export type {
  AttentionWire,
  ConsoleEventWire,
  HealthWire,
  RunRowWire,
  ShardRowWire,
  ShownKeyWire,
} from "./schema/console.ts";
export { MAX_FAILURES } from "./schema/notes.ts";
export type {
  CapacityWire,
  ConfigWire,
  CursorWire,
  LeaseWire,
  LoggedOpWire,
  ProgressWire,
  RangeWire,
  RunWire,
  ShardSummaryWire,
  ShardWire,
  SignalName,
  SnapshotWire,
} from "./schema/records.ts";
export { MAX_ELEMENTS, type SessionWire } from "./schema/requests.ts";
export { matchPath, pathOf, type MatchedPath } from "./table/match-path.ts";
export {
  OPERATION_NAMES,
  OPERATIONS,
  type BatchName,
  type BatchSpec,
  type CallName,
  type CallSpec,
  type NameOfShape,
  type OperationName,
  type OperationSpec,
  type Priority,
  type StreamSpec,
} from "./table/operations.ts";
export { roleIncludes, ROLES, type Role } from "./table/role.ts";
export type { MoveWire, ScopeWire } from "./schema/scopes.ts";
export type { BodyOf, ElementOf, ElementResult, ErrorWire, QueryOf, ResponseOf } from "./table/wire-types.ts";
export { makeValidator, MAX_WAIT_MS, validatorsOf, type Validator } from "./validate/validator.ts";
