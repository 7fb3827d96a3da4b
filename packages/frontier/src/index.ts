export { alignSplitPoints } from "./align-split-points.ts";
export type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
export { byteMidpoint, byteMidpointInto } from "./byte-midpoint.ts";
export type { ManifestSplitInput, RangeSplitInput } from "./cut-into-shards.ts";
export {
  decodeConnectorExtra,
  decodeConnectorExtraInto,
  decodeHint,
  decodeHintInto,
  decodeMetadata,
  decodeMetadataInto,
} from "./decode-metadata.ts";
export { decodeTuple } from "./decode-tuple.ts";
export { encodeTuple, encodeTupleInto } from "./encode-tuple.ts";
export { frontierErrorMessage, type FrontierError } from "./frontier-error-message.ts";
export { HintedSplitError } from "./hinted-split-error.ts";
export { planHintedSplitReplace, planHintedSplitResidual, planHintedSplitResidualFromCursor } from "./hinted-split.ts";
export { HintPropagationError, type SplitBoundary } from "./hint-propagation-error.ts";
export { KeyBuf } from "./key-buf.ts";
export { encodeKey, type KeyEncoding } from "./key-encoding.ts";
export { keySuccessor, keySuccessorInto } from "./key-successor.ts";
export { ManifestId, ManifestRow } from "./manifest-id.ts";
export { ManifestRowKeyError } from "./manifest-row-key-error.ts";
export { decodeManifestRowKey, ManifestRowKey, type ManifestRowInput } from "./manifest-row-key.ts";
export { manifestShard, manifestShardInto, manifestShardRef, type ManifestShardInput } from "./manifest-shard.ts";
export { MetadataBuf } from "./metadata-buf.ts";
export { PathKeyError } from "./path-key-error.ts";
export { PathKey } from "./path-key.ts";
export {
  PreallocShardBuilderError,
  type BuilderLimitError,
  type CapacityExceeded,
  type FanOutExceeded,
  type InvalidSpecHandle,
  type ManifestCtorInvalid,
  type ManifestInvalid,
  type PrefixInvalid,
  type RangeInvalid,
  type SpecInvalid,
} from "./prealloc-shard-builder-error.ts";
export { PreallocShardBuilder, type BuilderLimits } from "./prealloc-shard-builder.ts";
export { PrefixShardError } from "./prefix-shard-error.ts";
export { prefixShard, prefixShardInto, prefixShardRef, type PrefixShardInput } from "./prefix-shard.ts";
export { prefixSuccessor, prefixSuccessorInto } from "./prefix-successor.ts";
export { propagateHintOnSplit, type ChildRange } from "./propagate-hint.ts";
export { rangeShard, rangeShardInto, rangeShardRef, type RangeShardInput } from "./range-shard.ts";
export type { ScratchBuf } from "./scratch-buf.ts";
export { ShardEncodeError } from "./shard-encode-error.ts";
export { ShardHintDecodeError } from "./shard-hint-decode-error.ts";
export { ShardHintView } from "./shard-hint-view.ts";
export { ShardHint, type DecodedShardHint, type ManifestHint, type ShardHintCompanion } from "./shard-hint.ts";
export { ShardIntoError } from "./shard-into-error.ts";
export { ShardMetadataDecodeError } from "./shard-metadata-decode-error.ts";
export { ShardMetadataView } from "./shard-metadata-view.ts";
export { ShardMetadata, type ShardMetadataCompanion } from "./shard-metadata.ts";
export {
  shardSpecFromKeys,
  shardSpecFromKeysInto,
  shardSpecFromKeysRef,
  type KeysSpecInput,
} from "./shard-spec-from-keys.ts";
export {
  shardSpecFromManifestRange,
  shardSpecFromManifestRangeInto,
  shardSpecFromManifestRangeRef,
  type ManifestRange,
  type ManifestSpecInput,
} from "./shard-spec-from-manifest-range.ts";
export {
  shardSpecFromPrefix,
  shardSpecFromPrefixInto,
  shardSpecFromPrefixRef,
  type PrefixSpecInput,
} from "./shard-spec-from-prefix.ts";
export { ShardSpecScratch } from "./shard-spec-scratch.ts";
export { evenSplitPoints, rangeMidpoint, splitPointsFromSamples } from "./split-advice.ts";
export { TupleDecodeError } from "./tuple-decode-error.ts";
export { MAX_TUPLE_DEPTH, type PartOrder, type TupleElement, type TupleUuid } from "./tuple-element.ts";
export { TupleEncodeError } from "./tuple-encode-error.ts";
export { TupleKey } from "./tuple-key.ts";
export { tupleRange } from "./tuple-range.ts";
