export type { ShardSink, Sink, SinkRequest, SkippedItem } from "./sinks/sink.ts";
export type { SourceError, SourceErrorKind } from "./sources/source-error.ts";
export type { Item, ItemBatch, ItemProblem, PlanRequest, ReadRequest, Source, SplitRequest } from "./sources/source.ts";
export type { EstimateRequest, WorkEstimate, WorkSpan } from "./sources/work-estimate.ts";
export {
  assembleNdjson,
  type AssembledNdjson,
  type AssembleError,
  type AssembleRequest,
  verifyNdjson,
} from "./sinks/ndjson/assemble-ndjson.ts";
export type { ToRecord, ToSkippedRecord } from "./sinks/ndjson/ndjson-shard-sink.ts";
export { ndjsonSink, type NdjsonSinkOptions } from "./sinks/ndjson/ndjson-sink.ts";
export { SinkFailed, type SinkFailedKind } from "./sinks/sink-failed.ts";
export { sinkTokens, type RunUnfinished } from "./sinks/sink-tokens.ts";
export { FileItem } from "./sources/file-tree/file-item.ts";
export { fileTreeSource, type FileTreeOptions } from "./sources/file-tree/file-tree-source.ts";
export type { TreeCandidate } from "./sources/file-tree/tree.ts";
export {
  iterableSource,
  type IterableOptions,
  type IterableRequest,
  type KeyedItem,
} from "./sources/iterable/iterable-source.ts";
export type { LineItem } from "./sources/lines/line-item.ts";
export { linesSource, type LinesOptions } from "./sources/lines/lines-source.ts";
export { assertPlanRequest, shardsBetween } from "./sources/range-shards.ts";
export { readBounds, type ReadBounds } from "./sources/read-bounds.ts";
export { SourceReadFailed } from "./sources/source-read-failed.ts";
export type { BlockedLoop, KeeperStore, KeepLeases, OpenKeeperStore } from "./keeper/keep-leases.ts";
export { classifyFailure, type ClassifyFailure, type FailureClass } from "./policy/failure-class.ts";
export type { BackoffInput, RetryInput } from "./policy/retry-schedule.ts";
export type { SplitInput } from "./policy/split-policy.ts";
export type { HeldShard, ItemContext, Process } from "./runtime/item-context.ts";
export type { MaxFailures } from "./runtime/failure-limit.ts";
export type { BatchOutcome, BatchOutcomes, ProcessBatch, RunBatchesOptions } from "./batches/process-batch.ts";
export { ItemTimedOut } from "./runtime/item-timed-out.ts";
export { ParkShard } from "./runtime/park-shard.ts";
export { RetryAfter, type RetryAfterOptions, type RetryAfterScope } from "./runtime/retry-after.ts";
export type { CheckpointEvery, RunWorkersOptions, Telemetry } from "./runtime/run-workers-options.ts";
export { runWorkers } from "./runtime/run-workers.ts";
export { startRunErrorMessage, type StartRunError } from "./runtime/start-run-error.ts";
export { MAX_PLANNED_SHARDS, startRun, type StartedRun, type StartRunOptions } from "./runtime/start-run.ts";
export { WorkStopped, type WorkStoppedKind } from "./runtime/work-stopped.ts";
export type { LossCause, WorkerEvent, WorkerEventKind } from "./runtime/worker-event.ts";
export type { ShardCounts, StopReason, WorkerProgress, WorkerSummary } from "./runtime/worker-summary.ts";
export type { Logger } from "./telemetry/logger.ts";
export { SYSTEM_TIME, type WorkerTime } from "./time/worker-time.ts";
