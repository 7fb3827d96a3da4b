export {
  checkCursorAdvance,
  checkCursorBounds,
  type CursorAdvance,
  type CursorBounds,
} from "./cursors/check-cursor.ts";
export type { Clock } from "./clock.ts";
export { CursorSemantics } from "./states/cursor-semantics.ts";
export { Cursor, type CursorInput, type CursorInputError, type CursorJson } from "./cursors/cursor.ts";
export { DerivedShardKind } from "./states/derived-shard-kind.ts";
export { FenceEpoch } from "./ids/fence-epoch.ts";
export type { JsonCodec } from "./json/json-codec.ts";
export { U64_MAX, type IdTextError } from "./ids/u64.ts";
export type { InvalidField } from "./json/json-reader.ts";
export { toJsonSafe, type JsonSafe } from "./json/json-safe.ts";
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
export { LogicalTime } from "./ids/logical-time.ts";
export {
  InitialShardInput,
  validateManifest,
  type InitialShardJson,
  type ManifestValidationError,
} from "./manifest/manifest.ts";
export { OpId } from "./ids/op-id.ts";
export { ParkReason } from "./states/park-reason.ts";
export type { PersistedEnum } from "./states/persisted-enum.ts";
export {
  planSplitReplace,
  planSplitReplaceAtPoints,
  type SplitReplacePlanningError,
  type SplitPointBehindCursor,
} from "./splits/plan-split-replace.ts";
export {
  planSplitResidual,
  planSplitResidualAtPoint,
  planSplitResidualFromCursor,
  type SplitResidualPlanningError,
} from "./splits/plan-split-residual.ts";
export { RunId } from "./ids/run-id.ts";
export { RunStatus } from "./states/run-status.ts";
export { ShardArena, type ShardSpecHandle } from "./specs/shard-arena.ts";
export { ShardId } from "./ids/shard-id.ts";
export { ShardKey, type ShardKeyJson } from "./ids/shard-key.ts";
export { ShardLimitScope } from "./states/shard-limit-scope.ts";
export { validateShardSpec, type ShardSpecInputError, type ShardSpecRef } from "./specs/shard-spec-ref.ts";
export { ShardSpec, type RangeAndMetadataInput, type RangeInput, type ShardSpecJson } from "./specs/shard-spec.ts";
export { ShardStatus } from "./states/shard-status.ts";
export {
  SplitReplacePlan,
  type SplitReplacePlanError,
  type SplitReplaceChild,
  type SplitReplacePlanJson,
} from "./splits/split-replace-plan.ts";
export {
  SplitResidualPlan,
  type SplitResidualPlanError,
  type SplitResidualPlanJson,
} from "./splits/split-residual-plan.ts";
export {
  validateChildCursors,
  validateResidualSplit,
  validateSplitCoverage,
  type ResidualSplit,
  type SplitValidationError,
} from "./splits/validate-split.ts";
export { TenantId, type TenantIdSizeError } from "./ids/tenant-id.ts";
export type { U64Companion, U64InputError } from "./ids/u64-companion.ts";
export { WorkerId } from "./ids/worker-id.ts";
