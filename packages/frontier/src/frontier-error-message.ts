import type { ManifestValidationError, ShardSpecInputError } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { HintedSplitError } from "./splits/hinted-split-error.ts";
import type { HintPropagationError } from "./hints/hint-propagation-error.ts";
import type { ManifestRowKeyError } from "./keys/manifest-row-key-error.ts";
import type { PathKeyError } from "./keys/path-key-error.ts";
import type { PreallocShardBuilderError } from "./builder/prealloc-shard-builder-error.ts";
import type { PrefixShardError } from "./shards/prefix-shard-error.ts";
import type { ShardEncodeError } from "./shards/shard-encode-error.ts";
import type { ShardHintDecodeError } from "./hints/shard-hint-decode-error.ts";
import type { ShardIntoError } from "./shards/shard-into-error.ts";
import type { ShardMetadataDecodeError } from "./hints/shard-metadata-decode-error.ts";
import type { TupleDecodeError } from "./tuples/tuple-decode-error.ts";
import type { TupleEncodeError } from "./tuples/tuple-encode-error.ts";

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

type Sentences = {
  readonly [K in FrontierError["kind"]]: (error: Extract<FrontierError, { readonly kind: K }>) => string;
};

/** An error in a sentence, for people. It tells sizes, positions and row numbers, never bytes of a key. */
export function frontierErrorMessage(error: FrontierError): string {
  assert(typeof error === "object" && error !== null, "error must be one of this package");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "an error of an unknown kind";
  const sentence = SENTENCES[error.kind] as (error: FrontierError) => string;
  return sentence(error);
}

const SENTENCES: Sentences = {
  EmptyPrefix: () => "an empty prefix has no upper bound",
  PrefixTooLarge: ({ size, max }) => `a prefix of ${size} bytes is more than ${max}`,
  NoSuccessor: () => "the prefix is ff throughout, and no key lies above all that start with it",
  InvalidShardSpec: ({ reason }) => `the prefix makes no shard: ${frontierErrorMessage(reason)}`,
  KeyTooLarge: ({ size, max }) => `a key of ${size} bytes is more than ${max}`,
  MetadataTooLarge: ({ size, max }) => `metadata of ${size} bytes is more than ${max}`,
  InvertedRange: ({ startLen, endLen }) => `the start (${startLen} bytes) is not below the end (${endLen} bytes)`,
  Build: ({ reason }) => `the spec was refused: ${frontierErrorMessage(reason)}`,
  SlabFull: ({ requested, available }) => `the arena has no room for ${requested}: it has ${available}`,

  EmptyData: () => "a hint has at least its tag, and there are no bytes",
  UnknownTag: ({ tag }) => `no hint has the tag ${tag}`,
  TruncatedPrefix: ({ expectedMin, actual }) => `a prefix hint of ${expectedMin} bytes was cut off at ${actual}`,
  TruncatedManifest: ({ expectedMin, actual }) => `a manifest hint of ${expectedMin} bytes was cut off at ${actual}`,
  InvertedManifestRows: ({ startRow, endRow }) => `there is no row from ${startRow} to ${endRow}`,
  MalformedMetadata: ({ hintError }) =>
    hintError === undefined
      ? "the metadata is no envelope"
      : `the metadata's hint is none: ${frontierErrorMessage(hintError)}`,
  HintTooLarge: ({ size, max }) => `a hint of ${size} bytes is more than ${max}`,

  InvalidPrefixBoundary: ({ boundary }) => `the child's ${wordFor(boundary)} lies outside its parent's prefix`,
  InvalidManifestBoundary: ({ boundary }) => `the child's ${wordFor(boundary)} is none of its parent's rows`,
  ManifestIdMismatch: ({ parent, child }) => `the child is of manifest ${child}, its parent of ${parent}`,
  EmptyManifestRange: ({ startRow, endRow }) => `the child has no row: it goes from ${startRow} to ${endRow}`,
  ParentMetadataInvalid: ({ reason }) => `the parent has no hint to hand on: ${frontierErrorMessage(reason)}`,
  ChildHintInvalid: ({ childIndex, reason }) => `child ${childIndex} has no hint: ${frontierErrorMessage(reason)}`,

  EntryLimitZero: () => "a builder that may hold no entry is of no use",
  CapMismatch: ({ entryLimit, cap }) => `a builder with room for ${cap} entries cannot hold ${entryLimit}`,
  EntryLimitExceedsManifestMax: ({ entryLimit, max }) => `a manifest holds at most ${max} shards, not ${entryLimit}`,
  CapacityExceeded: ({ limit, current, additional }) =>
    `there is no room for ${additional} more on top of ${current} entries: the limit is ${limit}`,
  FanOutExceeded: ({ limit, requested }) => `a split makes at most ${limit} shards, not ${requested}`,
  RangeInvalid: ({ reason }) => `the range makes no shard: ${frontierErrorMessage(reason)}`,
  PrefixInvalid: ({ reason }) => `the prefix makes no shard: ${frontierErrorMessage(reason)}`,
  ManifestCtorInvalid: ({ reason }) => `the rows make no shard: ${frontierErrorMessage(reason)}`,
  SpecInvalid: ({ reason }) => `the spec was refused: ${frontierErrorMessage(reason)}`,
  InvalidSpecHandle: () => "the handle is stale, freed or of another arena",
  ManifestInvalid: ({ reason }) => `the staged shards make no manifest: ${manifestRefusal(reason)}`,

  EmptyPath: () => "a path must not be empty",
  LoneSurrogate: ({ index }) => `code unit ${index} of the path is half a character`,
  PathTooLarge: ({ size, max }) => `a path of ${size} bytes is more than ${max}`,
  NotU64: ({ field }) => `${field} must be a bigint from 0 to 2^64 - 1`,

  UnsupportedElement: ({ partIndex, given }) =>
    `part ${partIndex} is or holds a value of type ${given}, which no tuple can`,
  IntegerTooLarge: ({ partIndex }) => `part ${partIndex} is or holds an integer beyond 64 bits and a sign`,
  LoneSurrogateInPart: ({ partIndex }) => `part ${partIndex} is or holds a string with half a character`,
  WrongUuidSize: ({ partIndex, size }) => `part ${partIndex} is or holds a UUID of ${size} bytes, and one has 16`,
  PartTooDeep: ({ partIndex }) => `part ${partIndex} nests tuples more than 64 deep`,
  ZeroInDescending: ({ partIndex }) =>
    `part ${partIndex} descends, and so may hold neither a zero byte nor a nested null`,
  AmbiguousNull: ({ partIndex }) =>
    `part ${partIndex} is null and follows a string, bytes or a tuple of the other direction`,
  Truncated: ({ offset }) => `the element at ${offset} was cut off`,
  UnknownTypeCode: ({ offset }) => `no element has the type code at ${offset}`,
  InvalidUtf8: ({ offset }) => `the string at ${offset} is no UTF-8`,
  NonCanonical: ({ offset }) => `the element at ${offset} is not written as it should be`,
  TooDeep: ({ offset }) => `the tuple at ${offset} is nested more than 64 deep`,
};

function wordFor(boundary: "Start" | "End"): string {
  return boundary === "Start" ? "start" : "end";
}

/** By its kind: the sentences of a manifest's refusal are not this package's. */
function manifestRefusal(reason: ManifestValidationError | undefined): string {
  return reason?.kind ?? "nobody says why";
}
