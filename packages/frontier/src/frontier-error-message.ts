import type { ShardSpecInputError } from "@gossip/contracts";
import { assert, type ErrorHandlers } from "@gossip/stdx";
import type { HintedSplitError } from "./splits/hinted-split.ts";
import type { HintPropagationError, ShardHintDecodeError, ShardMetadataDecodeError } from "./hints/hint-error.ts";
import type { ManifestRowKeyError, PathKeyError } from "./keys/key-error.ts";
import type { PreallocShardBuilderError } from "./builder/prealloc-shard-builder-error.ts";
import type { PrefixShardError, ShardEncodeError, ShardIntoError } from "./shards/shard-error.ts";
import type { TupleDecodeError, TupleEncodeError } from "./tuples/tuple-error.ts";

/** Every error of this package, and what is wrong with a spec. */
export type FrontierError =
  | HintedSplitError
  | HintPropagationError
  | ManifestRowKeyError
  | PathKeyError
  | PreallocShardBuilderError
  | PrefixShardError
  | ShardEncodeError
  | ShardHintDecodeError
  | ShardIntoError<PrefixShardError | ShardSpecInputError>
  | ShardMetadataDecodeError
  | ShardSpecInputError
  | TupleDecodeError
  | TupleEncodeError;

/** Describes an error for people. Contains sizes, positions and row numbers, never bytes of a key. */
export function frontierErrorMessage(error: FrontierError): string {
  assert(typeof error === "object" && error !== null, "error must be one of this package");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "an error of an unknown kind";
  const sentence = SENTENCES[error.kind] as (error: FrontierError) => string;
  return sentence(error);
}

const SENTENCES: ErrorHandlers<FrontierError, string> = {
  EmptyPrefix: () => "an empty prefix has no upper bound",
  PrefixTooLarge: ({ size, max }) => `a prefix of ${size} bytes is over the limit of ${max}`,
  NoSuccessor: () => "every byte of the prefix is ff, so no key is above all keys that start with it",
  InvalidShardSpec: ({ reason }) => `the prefix is not a valid shard: ${frontierErrorMessage(reason)}`,
  KeyTooLarge: ({ size, max }) => `a key of ${size} bytes is over the limit of ${max}`,
  MetadataTooLarge: ({ size, max }) => `metadata of ${size} bytes is over the limit of ${max}`,
  InvertedRange: ({ startLen, endLen }) => `the start (${startLen} bytes) is not below the end (${endLen} bytes)`,
  Build: ({ reason }) => `the spec was refused: ${frontierErrorMessage(reason)}`,
  SlabFull: ({ requested, available }) => `the arena has no room for ${requested}: ${available} is available`,

  EmptyData: () => "a hint needs at least its tag, and there are no bytes",
  UnknownTag: ({ tag }) => `no hint has the tag ${tag}`,
  TruncatedPrefix: ({ expectedMin, actual }) => `a prefix hint of ${expectedMin} bytes is truncated to ${actual}`,
  TruncatedManifest: ({ expectedMin, actual }) => `a manifest hint of ${expectedMin} bytes is truncated to ${actual}`,
  InvertedManifestRows: ({ startRow, endRow }) => `the start row ${startRow} is above the end row ${endRow}`,
  MalformedMetadata: ({ hintError }) =>
    hintError === undefined
      ? "the metadata is malformed"
      : `the metadata has a malformed hint: ${frontierErrorMessage(hintError)}`,
  HintTooLarge: ({ size, max }) => `a hint of ${size} bytes is over the limit of ${max}`,

  InvalidPrefixBoundary: ({ boundary }) => `the child's ${boundary.toLowerCase()} is outside its parent's prefix`,
  InvalidManifestBoundary: ({ boundary }) => `the child's ${boundary.toLowerCase()} is not one of its parent's rows`,
  ManifestIdMismatch: ({ parent, child }) => `the child belongs to manifest ${child}, its parent to ${parent}`,
  EmptyManifestRange: ({ startRow, endRow }) => `the child has no rows: it starts at ${startRow} and ends at ${endRow}`,
  ParentMetadataInvalid: ({ reason }) => `the parent has no valid hint: ${frontierErrorMessage(reason)}`,
  ChildHintInvalid: ({ childIndex, reason }) =>
    `child ${childIndex} has no valid hint: ${frontierErrorMessage(reason)}`,

  EntryLimitZero: () => "the entry limit of a builder must not be zero",
  CapMismatch: ({ entryLimit, cap }) => `a builder with room for ${cap} entries cannot hold ${entryLimit}`,
  EntryLimitExceedsManifestMax: ({ entryLimit, max }) => `a manifest holds at most ${max} shards, not ${entryLimit}`,
  CapacityExceeded: ({ limit, current, additional }) =>
    `no room for ${additional} more entries: the builder holds ${current} of ${limit}`,
  FanOutExceeded: ({ limit, requested }) => `a split creates at most ${limit} shards, not ${requested}`,
  RangeInvalid: ({ reason }) => `the range is not a valid shard: ${frontierErrorMessage(reason)}`,
  PrefixInvalid: ({ reason }) => `the prefix is not a valid shard: ${frontierErrorMessage(reason)}`,
  ManifestCtorInvalid: ({ reason }) => `the rows are not a valid shard: ${frontierErrorMessage(reason)}`,
  SpecInvalid: ({ reason }) => `the spec was refused: ${frontierErrorMessage(reason)}`,
  InvalidSpecHandle: () => "the handle is stale, or belongs to another arena",
  // Only the kind: another package describes manifest errors.
  ManifestInvalid: ({ reason }) => `the staged shards are not a valid manifest: ${reason.kind}`,

  EmptyPath: () => "a path must not be empty",
  LoneSurrogate: ({ index }) => `code unit ${index} of the path is a lone surrogate`,
  PathTooLarge: ({ size, max }) => `a path of ${size} bytes is over the limit of ${max}`,
  NotU64: ({ field }) => `${field} must be a bigint from 0 to 2^64 - 1`,

  UnsupportedElement: ({ partIndex, given }) =>
    `part ${partIndex} is or contains a value of type ${given}, which a tuple cannot hold`,
  IntegerTooLarge: ({ partIndex }) => `part ${partIndex} is or contains an integer beyond ±(2^64 - 1)`,
  LoneSurrogateInPart: ({ partIndex }) => `part ${partIndex} is or contains a string with a lone surrogate`,
  WrongUuidSize: ({ partIndex, size }) => `part ${partIndex} is or contains a UUID of ${size} bytes instead of 16`,
  PartTooDeep: ({ partIndex }) => `part ${partIndex} nests tuples more than 64 deep`,
  ZeroInDescending: ({ partIndex }) =>
    `part ${partIndex} is descending, so it must not contain a zero byte or a nested null`,
  AmbiguousNull: ({ partIndex }) =>
    `part ${partIndex} is null and follows a string, bytes or tuple of the opposite direction`,
  Truncated: ({ offset }) => `the element at offset ${offset} is truncated`,
  UnknownTypeCode: ({ offset }) => `unknown type code at offset ${offset}`,
  InvalidUtf8: ({ offset }) => `the string at offset ${offset} is not UTF-8`,
  NonCanonical: ({ offset }) => `the element at offset ${offset} is not in canonical form`,
  TooDeep: ({ offset }) => `the tuple at offset ${offset} is nested more than 64 deep`,
};
