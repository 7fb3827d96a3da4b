export type { Admission } from "./admit/in-flight.ts";
export type { Decision, Offer } from "./move/handover.ts";
export type { JournalEntry } from "./move/journal-entry.ts";
export { decodeJournal, encodeJournalEntry } from "./json/journal-json.ts";
export {
  MAX_ID_LENGTH,
  MAX_INDEX_SIZE,
  MAX_PREFIX_SIZE,
  MAX_REMEMBERED_MIGRATIONS,
  MAX_SCOPES,
  TAKEOVER_LEAP,
} from "./limits.ts";
export { decodeMessage, encodeMessage, type MalformedMessage, type Message } from "./json/message.ts";
export type { FinishedMigration, MigrationOutcome, MigrationState, MoveRequest } from "./move/migration.ts";
export type { MigrationError, MigrationErrorKind } from "./move/node-error.ts";
export { MigrationTable, type MigrationLists, type MigrationStep, type StartRefusal } from "./move/migration-table.ts";
export type {
  AbortError,
  AdoptError,
  ChangePending,
  CommitError,
  CorruptJournal,
  DrainError,
  OwnerChange,
  OwnerChanged,
  ReloadError,
  SettleError,
  StaleSnapshot,
  StartError,
} from "./move/node-error.ts";
export type { NodeState } from "./move/node-state.ts";
export {
  formatOwnershipError,
  type DuplicatePrefix,
  type OverlappingPrefix,
  type OwnershipError,
  type ScopeConflicts,
} from "./table/ownership-error.ts";
export { OwnershipNode, type Change, type OwnershipNodeOptions } from "./move/ownership-node.ts";
export { OwnershipSnapshot, type OwnershipSnapshotParts } from "./route/ownership-snapshot.ts";
export { OwnershipTable, type OwnershipTableOptions } from "./table/ownership-table.ts";
export { parseScopes, type ParseScopesOptions } from "./config/parse-scopes.ts";
export {
  isLocalWriter,
  isMisdirected,
  matchedPrefix,
  misdirectedTarget,
  type Misdirected,
  type Owned,
  type Quiesced,
  type Refusal,
  type Routing,
  type Unavailable,
  type Unknown,
} from "./route/routing.ts";
export { Scope, type ScopeOptions } from "./table/scope.ts";
export type { NestedPrefixes } from "./find/scope-index.ts";
export { formatScopeProblem, type InvalidScopes, type ScopeField, type ScopeProblem } from "./config/scope-problem.ts";
export type { IsDown } from "./route/scope-router.ts";
export type { Bytes } from "./text-bytes.ts";
export { renderReply, type AddressOf } from "./route/wire-reply.ts";
