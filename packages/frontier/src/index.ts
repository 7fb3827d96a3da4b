export { alignSplitPoints } from "./splits/align-split-points.ts";
export type { BorrowedShardSpec } from "./shards/borrowed-shard-spec.ts";
export { byteMidpoint, byteMidpointInto } from "./arithmetic/byte-midpoint.ts";
export type { ManifestSplitInput, RangeSplitInput } from "./splits/cut-into-shards.ts";
export {
  decodeConnectorExtra,
  decodeConnectorExtraInto,
  decodeHint,
  decodeHintInto,
  decodeMetadata,
  decodeMetadataInto,
} from "./hints/decode-metadata.ts";
export { decodeTuple } from "./tuples/decode-tuple.ts";
export { encodeTuple, encodeTupleInto } from "./tuples/encode-tuple.ts";
export { frontierErrorMessage, type FrontierError } from "./frontier-error-message.ts";
export { HintedSplitError } from "./splits/hinted-split-error.ts";
export {
  planHintedSplitReplace,
  planHintedSplitResidual,
  planHintedSplitResidualFromCursor,
} from "./splits/hinted-split.ts";
export { HintPropagationError, type SplitBoundary } from "./hints/hint-propagation-error.ts";
export { KeyBuf } from "./keys/key-buf.ts";
export { encodeKey, type KeyEncoding } from "./keys/key-encoding.ts";
export { keySuccessor, keySuccessorInto } from "./arithmetic/key-successor.ts";
export { ManifestId, ManifestRow } from "./keys/manifest-id.ts";
export { ManifestRowKeyError } from "./keys/manifest-row-key-error.ts";
export { decodeManifestRowKey, ManifestRowKey, type ManifestRowInput } from "./keys/manifest-row-key.ts";
export {
  manifestShard,
  manifestShardInto,
  manifestShardRef,
  type ManifestShardInput,
} from "./shards/manifest-shard.ts";
export { MetadataBuf } from "./hints/metadata-buf.ts";
export { PathKeyError } from "./keys/path-key-error.ts";
export { PathKey } from "./keys/path-key.ts";
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
} from "./builder/prealloc-shard-builder-error.ts";
export { PreallocShardBuilder, type BuilderLimits } from "./builder/prealloc-shard-builder.ts";
export { PrefixShardError } from "./shards/prefix-shard-error.ts";
export { prefixShard, prefixShardInto, prefixShardRef, type PrefixShardInput } from "./shards/prefix-shard.ts";
export { prefixSuccessor, prefixSuccessorInto } from "./arithmetic/prefix-successor.ts";
export { propagateHintOnSplit, type ChildRange } from "./hints/propagate-hint.ts";
export { rangeShard, rangeShardInto, rangeShardRef, type RangeShardInput } from "./shards/range-shard.ts";
export type { ScratchBuf } from "./keys/scratch-buf.ts";
export { ShardEncodeError } from "./shards/shard-encode-error.ts";
export { ShardHintDecodeError } from "./hints/shard-hint-decode-error.ts";
export { ShardHintView } from "./hints/shard-hint-view.ts";
export { ShardHint, type DecodedShardHint, type ManifestHint, type ShardHintCompanion } from "./hints/shard-hint.ts";
export { ShardIntoError } from "./shards/shard-into-error.ts";
export { ShardMetadataDecodeError } from "./hints/shard-metadata-decode-error.ts";
export { ShardMetadataView } from "./hints/shard-metadata-view.ts";
export { ShardMetadata, type ShardMetadataCompanion } from "./hints/shard-metadata.ts";
export {
  shardSpecFromKeys,
  shardSpecFromKeysInto,
  shardSpecFromKeysRef,
  type KeysSpecInput,
} from "./shards/shard-spec-from-keys.ts";
export {
  shardSpecFromManifestRange,
  shardSpecFromManifestRangeInto,
  shardSpecFromManifestRangeRef,
  type ManifestRange,
  type ManifestSpecInput,
} from "./shards/shard-spec-from-manifest-range.ts";
export {
  shardSpecFromPrefix,
  shardSpecFromPrefixInto,
  shardSpecFromPrefixRef,
  type PrefixSpecInput,
} from "./shards/shard-spec-from-prefix.ts";
export { ShardSpecScratch } from "./shards/shard-spec-scratch.ts";
export { evenSplitPoints, rangeMidpoint, splitPointsFromSamples } from "./splits/split-advice.ts";
export { TupleDecodeError } from "./tuples/tuple-decode-error.ts";
export { MAX_TUPLE_DEPTH, type PartOrder, type TupleElement, type TupleUuid } from "./tuples/tuple-element.ts";
export { TupleEncodeError } from "./tuples/tuple-encode-error.ts";
export { TupleKey } from "./tuples/tuple-key.ts";
export { tupleRange } from "./tuples/tuple-range.ts";
