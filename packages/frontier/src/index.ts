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
export { encodeTuple } from "./tuples/encode-tuple.ts";
export { frontierErrorMessage, type FrontierError } from "./frontier-error-message.ts";
export { planHintedSplitReplace, planHintedSplitResidual, type HintedSplitError } from "./splits/hinted-split.ts";
export type {
  HintPropagationError,
  SplitBoundary,
  ShardHintDecodeError,
  ShardMetadataDecodeError,
} from "./hints/hint-error.ts";
export { KeyBuf } from "./keys/key-buf.ts";
export { encodeKey, type KeyEncoding } from "./keys/key-encoding.ts";
export { keySuccessor, keySuccessorInto, prefixSuccessor, prefixSuccessorInto } from "./arithmetic/successors.ts";
export type { ManifestRowKeyError, PathKeyError } from "./keys/key-error.ts";
export { ManifestId, ManifestRow, type ManifestRange } from "./keys/manifest-id.ts";
export { decodeManifestRowKey, ManifestRowKey, type ManifestRowInput } from "./keys/manifest-row-key.ts";
export { MetadataBuf } from "./hints/metadata-buf.ts";
export { PathKey } from "./keys/path-key.ts";
export type { PreallocShardBuilderError } from "./builder/prealloc-shard-builder-error.ts";
export { PreallocShardBuilder, type BuilderLimits } from "./builder/prealloc-shard-builder.ts";
export type { PrefixShardError, ShardEncodeError, ShardIntoError } from "./shards/shard-error.ts";
export { propagateHintOnSplit, type ChildRange } from "./hints/propagate-hint.ts";
export type { ScratchBuf } from "./keys/scratch-buf.ts";
export { ShardHintView } from "./hints/shard-hint-view.ts";
export { ShardHint, type DecodedShardHint, type ManifestHint } from "./hints/shard-hint.ts";
export { ShardMetadataView } from "./hints/shard-metadata-view.ts";
export { ShardMetadata } from "./hints/shard-metadata.ts";
export {
  manifestShard,
  manifestShardInto,
  manifestShardRef,
  prefixShard,
  prefixShardInto,
  prefixShardRef,
  rangeShard,
  rangeShardInto,
  rangeShardRef,
  shardSpecFromKeys,
  shardSpecFromKeysInto,
  shardSpecFromKeysRef,
  shardSpecFromManifestRange,
  shardSpecFromManifestRangeInto,
  shardSpecFromManifestRangeRef,
  shardSpecFromPrefix,
  shardSpecFromPrefixInto,
  shardSpecFromPrefixRef,
  type KeysSpecInput,
  type ManifestShardInput,
  type ManifestSpecInput,
  type PrefixShardInput,
  type PrefixSpecInput,
  type RangeShardInput,
} from "./shards/shard-constructors.ts";
export type { IntoForm, OwnedForm, RefForm } from "./shards/shard-spec-forms.ts";
export { ShardSpecScratch } from "./shards/shard-spec-scratch.ts";
export { evenSplitPoints, rangeMidpoint, splitPointsFromSamples } from "./splits/split-advice.ts";
export type { TupleDecodeError, TupleEncodeError } from "./tuples/tuple-error.ts";
export { MAX_TUPLE_DEPTH, type PartOrder, type TupleElement, type TupleUuid } from "./tuples/tuple-element.ts";
export { TupleKey } from "./tuples/tuple-key.ts";
