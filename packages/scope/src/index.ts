export type { Admission } from "./admission.ts";
export type { Decision, Offer } from "./handover.ts";
export type { JournalEntry } from "./journal-entry.ts";
export { decodeJournal, encodeJournalEntry } from "./journal-json.ts";
export {
  MAX_ID_LENGTH,
  MAX_INDEX_SIZE,
  MAX_PREFIX_SIZE,
  MAX_REMEMBERED_MIGRATIONS,
  MAX_SCOPES,
  TAKEOVER_LEAP,
} from "./limits.ts";
export { decodeMessage, encodeMessage, type MalformedMessage, type Message } from "./message.ts";
export type { FinishedMigration, MigrationOutcome, MigrationState, MoveRequest } from "./migration.ts";
export type { MigrationError, MigrationErrorKind } from "./migration-error.ts";
export { MigrationTable, type MigrationLists, type MigrationStep, type StartRefusal } from "./migration-table.ts";
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
} from "./node-error.ts";
export type { NodeState } from "./node-state.ts";
export {
  formatOwnershipError,
  type DuplicatePrefix,
  type OverlappingPrefix,
  type OwnershipError,
  type ScopeConflicts,
} from "./ownership-error.ts";
export { OwnershipNode, type Change, type OwnershipNodeOptions } from "./ownership-node.ts";
export { OwnershipSnapshot, type OwnershipSnapshotParts } from "./ownership-snapshot.ts";
export { OwnershipTable, type OwnershipTableOptions } from "./ownership-table.ts";
export { parseScopes, type ParseScopesOptions } from "./parse-scopes.ts";
export {
  isLocalWriter,
  isMisdirected,
  matchedPrefix,
  misdirectedTarget,
  type Misdirected,
  type Owned,
  type Quiesced,
  type Routing,
  type Unavailable,
  type Unknown,
} from "./routing.ts";
export { Scope, type ScopeOptions } from "./scope.ts";
export type { Refusal } from "./scope-gate.ts";
export type { NestedPrefixes } from "./scope-index.ts";
export { formatScopeProblem, type InvalidScopes, type ScopeField, type ScopeProblem } from "./scope-problem.ts";
export type { IsDown } from "./scope-router.ts";
export type { Bytes } from "./text-bytes.ts";
export { renderReply, type AddressOf } from "./wire-reply.ts";
