export { checkCursorAdvance, checkCursorBounds, type CursorAdvance, type CursorBounds } from "./check-cursor.ts";
export type { Clock } from "./clock.ts";
export { CursorSemantics } from "./cursor-semantics.ts";
export { CursorInputError } from "./cursor-input-error.ts";
export { Cursor, type CursorCompanion, type CursorInput, type CursorJson } from "./cursor.ts";
export { DerivedShardKind } from "./derived-shard-kind.ts";
export { FenceEpoch, type FenceEpochCompanion } from "./fence-epoch.ts";
export type { JsonCodec } from "./json-codec.ts";
export { IdTextError } from "./id-text-error.ts";
export type { InvalidField } from "./json-reader.ts";
export { toJsonSafe, type JsonSafe } from "./json-safe.ts";
export {
  DEFAULT_MAX_SHARDS_PER_TENANT,
  DEFAULT_MAX_SHARDS_TOTAL,
  DERIVED_SHARD_BIT,
  MAX_ARENA_SLOTS,
  MAX_BUILDER_ENTRIES,
  MAX_INITIAL_SHARDS,
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_SPAWNED_PER_SHARD,
  MAX_SPLIT_CHILDREN,
  MAX_TOKEN_SIZE,
  RUN_OP_LOG_CAP,
  SHARD_OP_LOG_CAP,
  TENANT_ID_SIZE,
} from "./limits.ts";
export { LogicalTime, type LogicalTimeCompanion } from "./logical-time.ts";
export { ManifestValidationError } from "./manifest-validation-error.ts";
export { InitialShardInput, validateManifest, type InitialShardJson } from "./manifest.ts";
export { OpId, type OpIdCompanion } from "./op-id.ts";
export { ParkReason, type ParkReasonCompanion } from "./park-reason.ts";
export type { PersistedEnum } from "./persisted-enum.ts";
export {
  planSplitReplace,
  planSplitReplaceAtPoints,
  SplitReplacePlanningError,
  type SplitPointBehindCursor,
} from "./plan-split-replace.ts";
export {
  planSplitResidual,
  planSplitResidualAtPoint,
  planSplitResidualFromCursor,
  SplitResidualPlanningError,
} from "./plan-split-residual.ts";
export { RunId } from "./run-id.ts";
export { RunStatus, type RunStatusCompanion } from "./run-status.ts";
export { ShardArena, type ShardSpecHandle } from "./shard-arena.ts";
export { ShardId, type ShardIdCompanion } from "./shard-id.ts";
export { ShardKey, type ShardKeyCompanion, type ShardKeyJson } from "./shard-key.ts";
export { ShardLimitScope, type ShardLimitScopeCompanion } from "./shard-limit-scope.ts";
export { ShardSpecInputError } from "./shard-spec-input-error.ts";
export { validateShardSpec, type ShardSpecRef } from "./shard-spec-ref.ts";
export {
  ShardSpec,
  type RangeAndMetadataInput,
  type RangeInput,
  type ShardSpecCompanion,
  type ShardSpecJson,
} from "./shard-spec.ts";
export { ShardStatus, type ShardStatusCompanion } from "./shard-status.ts";
export {
  SplitReplacePlan,
  SplitReplacePlanError,
  type SplitReplaceChild,
  type SplitReplacePlanCompanion,
  type SplitReplacePlanJson,
} from "./split-replace-plan.ts";
export {
  SplitResidualPlan,
  SplitResidualPlanError,
  type SplitResidualPlanCompanion,
  type SplitResidualPlanJson,
} from "./split-residual-plan.ts";
export { SplitValidationError } from "./split-validation-error.ts";
export { TenantId, TenantIdSizeError, type TenantIdCompanion } from "./tenant-id.ts";
export { U64InputError, type U64Companion } from "./u64-companion.ts";
export { U64_MAX } from "./u64.ts";
export { validateChildCursors, validateResidualSplit, validateSplitCoverage } from "./validate-split.ts";
export { WorkerId } from "./worker-id.ts";
