export type { AcquireResult, AcquireResultView } from "./coordinator/acquiring.ts";
export type { BudgetRenewal, RenewBudgetRequest, ReturnBudgetRequest } from "./coordinator/budget-notes.ts";
export type { BudgetGrant } from "./budget/grant-budget.ts";
export type { ClaimManyRequest, ClaimRequest } from "./coordinator/claiming.ts";
export type { CoordinatorApi, WorkerSession } from "./coordinator/coordinator-api.ts";
export type { CoordinatorOptions } from "./coordinator/coordinator-options.ts";
export { Coordinator } from "./coordinator/coordinator.ts";
export { EventCollector, type EventCollectorOptions } from "./coordinator/event-collector.ts";
export {
  MAX_COUNTED_FAILURES,
  type CountFailuresRequest,
  type ListFailuresRequest,
  type ListParkedDetailsRequest,
  type ResolveFailuresRequest,
} from "./coordinator/failure-ledger.ts";
export type { EventListener, EventStream, EventStreamOptions } from "./coordinator/event-hub.ts";
export type {
  ClaimCandidates,
  ListRunsRequest,
  ListShardRecordsRequest,
  ListShardsRequest,
  ListTenantsRequest,
  RunLookup,
  RunRequest,
  ShardRequest,
} from "./coordinator/queries.ts";
export type { PutRollupRequest, RollupRequest } from "./coordinator/rollups.ts";
export type { StoreRetryPolicy } from "./coordinator/retry-policy.ts";
export { MAX_HOLD_MS, type ChangeRunSettingsRequest, type HoldRunRequest } from "./coordinator/setting-notes.ts";
export type {
  CompleteRunRequest,
  CreateRunRequest,
  CreateRunWithShardsRequest,
  EndRunRequest,
  RegisterShardsRequest,
  UnparkRequest,
} from "./coordinator/run-operations.ts";
export type {
  AcquireRequest,
  CheckpointRequest,
  CheckpointResult,
  CompleteRequest,
  LeasedRequest,
  LoggedRequest,
  ParkRequest,
  RenewResult,
  SplitReplaceRequest,
  SplitReplaceResult,
  SplitResidualRequest,
  SplitResidualResult,
} from "./coordinator/shard-requests.ts";
export type {
  ListWorkersRequest,
  PutMarkerRequest,
  RegisterWorkerRequest,
  WorkerRequest,
} from "./coordinator/worker-notes.ts";
export { systemClock } from "./coordinator/system-clock.ts";
export { deriveSplitShardId, type DerivedShard } from "./hashing/derive-split-shard-id.ts";
export { RANGE_EXHAUSTED, type CompletionPoint, type PayloadHash } from "./hashing/payload-hash.ts";
export { checkOpIdempotency, type RequestedOp } from "./kernel/check-op-idempotency.ts";
export type { CompleteRunOptions } from "./kernel/end-run.ts";
export { lastRegistered } from "./kernel/register-shards.ts";
export { validateCursorUpdate, type CursorRefusal } from "./kernel/validate-cursor-update.ts";
export { validateLease, type PresentedLease } from "./kernel/validate-lease.ts";
export { MemoryStore, type MemoryStoreOptions } from "./memory/memory-store.ts";
export { planMemory, type MemoryLoad, type MemoryPlan } from "./memory/plan-memory.ts";
export { CapacityHint, MAX_CLAIM_COUNT } from "./records/capacity-hint.ts";
export { CoordinationEvent, type EventEnvelope, type EventKind } from "./records/coordination-event.ts";
export { coordinationEventJson, type ReceivedEvent } from "./records/event-json.ts";
export {
  FAILURE_REASONS,
  MAX_ERROR_TEXT_SIZE,
  MAX_WORKER_TEXT_SIZE,
  type FailureInput,
  type FailureReason,
  type ItemFailure,
} from "./records/item-failure.ts";
export { LeaseHolder } from "./records/lease-holder.ts";
export { Lease } from "./records/lease.ts";
export {
  MAX_NOTE_KEY_SIZE,
  MAX_NOTE_VALUE_SIZE,
  MAX_NOTES_PER_SET,
  MAX_NOTES_SIZE,
  NoteSpace,
  type GuardedNoteWrite,
  type Note,
  type NoteWrite,
} from "./records/note.ts";
export { OpKind } from "./records/op-kind.ts";
export type { LoggedOp, OpLog } from "./records/op-log.ts";
export { OpResult } from "./records/op-result.ts";
export type { ParkDetailInput, ParkedDetail } from "./records/parked-detail.ts";
export { leaseJson, runRecordJson, shardRecordJson } from "./records/record-json.ts";
export { RunConfig, type RunConfigInput } from "./records/run-config.ts";
export {
  MAX_FLEET_CONCURRENCY,
  MAX_ITEMS_PER_SECOND,
  MIN_ITEMS_PER_SECOND,
  type RunSettings,
  type RunSettingsChange,
} from "./records/run-settings.ts";
export { RunOpKind } from "./records/run-op-kind.ts";
export {
  newRunRecord,
  type RunHead,
  type RunOpLogEntry,
  type RunOpResult,
  type RunRecord,
} from "./records/run-record.ts";
export {
  isLeasedAt,
  newShardRecord,
  type NewShard,
  type OpLogEntry,
  type ShardRecord,
} from "./records/shard-record.ts";
export type { ShardMarker } from "./records/shard-marker.ts";
export { MAX_REGISTERED_SHARDS, type WorkerEntry, type WorkerInfo } from "./records/worker-entry.ts";
export type { CheckpointOptions, CompleteOptions, ParkOptions, SessionOptions } from "./session/worker-session.ts";
export type { CommitAnswer, Committed, OverdrawnLimit } from "./store/commit-answer.ts";
export type {
  CoordinationStore,
  Eventually,
  ServerTime,
  StoreAnswer,
  StoreTraits,
} from "./store/coordination-store.ts";
export type {
  ClaimCandidate,
  ClaimListing,
  ClaimQuery,
  CountNotesQuery,
  ListNotesQuery,
  ListPositionsQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Page,
  RunMoment,
  RunRead,
  ShardPosition,
  ShardRead,
  StoreVersion,
  Versioned,
} from "./store/store-reads.ts";
export type {
  PutRunSet,
  RemoveRunSet,
  ShardLimits,
  ShardWrite,
  SplitShardSet,
  UpdateShardSet,
  WriteNotesSet,
  WriteSet,
} from "./store/write-set.ts";
export { AcquireScratch, type ShardSnapshotView } from "./views/acquire-scratch.ts";
export { estimateProgress, type ProgressEstimate } from "./views/progress-estimate.ts";
export { evaluateRunTerminal, RunProgress, type RunVerdict } from "./views/run-progress.ts";
export { summarizeRun, type RunSummary } from "./views/run-summary.ts";
export { ShardFilter } from "./views/shard-filter.ts";
export type { ShardSnapshot } from "./views/shard-snapshot.ts";
export { summarizeShard, type ShardSummary } from "./views/shard-summary.ts";
export {
  capacityHintJson,
  runProgressJson,
  runSummaryJson,
  shardSnapshotJson,
  shardSummaryJson,
} from "./views/view-json.ts";
