import type { ShardId, ShardSpecInputError } from "@gossip/contracts";
import { jsonError } from "@gossip/contracts/internal";
import type { HintedSplitError } from "./splits/hinted-split.ts";
import type { HintPropagationError, ShardHintDecodeError, ShardMetadataDecodeError } from "./hints/hint-error.ts";
import { manifestRange } from "./hints/hints.fixture.ts";
import type { ManifestRowKeyError, PathKeyError } from "./keys/key-error.ts";
import type { PreallocShardBuilderError } from "./builder/prealloc-shard-builder-error.ts";
import type { PrefixShardError, ShardEncodeError, ShardIntoError } from "./shards/shard-error.ts";
import type { TupleDecodeError, TupleEncodeError } from "./tuples/tuple-error.ts";

type Sample<E extends { readonly kind: string }> = { readonly [K in E["kind"]]: Extract<E, { readonly kind: K }> };

/** One of every kind of an error, or it does not compile. */
function samplesOf<E extends { readonly kind: string }>(samples: Sample<E>): Sample<E> {
  return samples;
}

const { manifestId, startRow, endRow } = manifestRange(0xfedcba9876543210n, 9n, 3n);
const inverted: ShardSpecInputError = { kind: "InvertedRange", startLen: 16, endLen: 17 };
const rows = jsonError({ kind: "InvertedManifestRows", startRow, endRow });
const limits = { size: 5000, max: 4096 };
const slabFull = { kind: "SlabFull", requested: 64, available: 16 } as const;
const malformed = { kind: "MalformedMetadata", hintError: rows } as const;

export const ERROR_TYPES = {
  PrefixShardError: samplesOf<PrefixShardError>({
    EmptyPrefix: { kind: "EmptyPrefix" },
    PrefixTooLarge: { kind: "PrefixTooLarge", ...limits },
    NoSuccessor: { kind: "NoSuccessor" },
    InvalidShardSpec: { kind: "InvalidShardSpec", reason: inverted },
  }),
  ShardIntoError: samplesOf<ShardIntoError<ShardSpecInputError>>({
    Build: { kind: "Build", reason: inverted },
    SlabFull: slabFull,
  }),
  ShardHintDecodeError: samplesOf<ShardHintDecodeError>({
    EmptyData: { kind: "EmptyData" },
    UnknownTag: { kind: "UnknownTag", tag: 7 },
    TruncatedPrefix: { kind: "TruncatedPrefix", expectedMin: 5, actual: 3 },
    TruncatedManifest: { kind: "TruncatedManifest", expectedMin: 25, actual: 24 },
    InvertedManifestRows: rows,
  }),
  ShardMetadataDecodeError: samplesOf<ShardMetadataDecodeError>({ MalformedMetadata: malformed }),
  ShardEncodeError: samplesOf<ShardEncodeError>({
    PrefixTooLarge: { kind: "PrefixTooLarge", ...limits },
    HintTooLarge: { kind: "HintTooLarge", ...limits },
    MetadataTooLarge: { kind: "MetadataTooLarge", ...limits },
    InvertedManifestRows: rows,
  }),
  HintPropagationError: samplesOf<HintPropagationError>({
    InvalidPrefixBoundary: { kind: "InvalidPrefixBoundary", boundary: "Start" },
    InvalidManifestBoundary: { kind: "InvalidManifestBoundary", boundary: "End" },
    ManifestIdMismatch: jsonError({ kind: "ManifestIdMismatch", parent: manifestId, child: manifestId }),
    EmptyManifestRange: jsonError({ kind: "EmptyManifestRange", startRow, endRow }),
  }),
  PreallocShardBuilderError: samplesOf<PreallocShardBuilderError>({
    EntryLimitZero: { kind: "EntryLimitZero" },
    CapMismatch: { kind: "CapMismatch", entryLimit: 5, cap: 4 },
    EntryLimitExceedsManifestMax: { kind: "EntryLimitExceedsManifestMax", entryLimit: 10_001, max: 10_000 },
    CapacityExceeded: { kind: "CapacityExceeded", limit: 3, current: 2, additional: 2 },
    FanOutExceeded: { kind: "FanOutExceeded", limit: 256, requested: 257 },
    SlabFull: slabFull,
    RangeInvalid: { kind: "RangeInvalid", reason: inverted },
    PrefixInvalid: { kind: "PrefixInvalid", reason: { kind: "InvalidShardSpec", reason: inverted } },
    ManifestCtorInvalid: { kind: "ManifestCtorInvalid", reason: inverted },
    SpecInvalid: { kind: "SpecInvalid", reason: inverted },
    InvalidSpecHandle: { kind: "InvalidSpecHandle" },
    ManifestInvalid: { kind: "ManifestInvalid", reason: jsonError({ kind: "UnboundedRange", shardId: 3n as ShardId }) },
  }),
  HintedSplitError: samplesOf<HintedSplitError>({
    ParentMetadataInvalid: { kind: "ParentMetadataInvalid", reason: malformed },
    ChildHintInvalid: {
      kind: "ChildHintInvalid",
      childIndex: 1,
      reason: { kind: "InvalidPrefixBoundary", boundary: "End" },
    },
  }),
  PathKeyError: samplesOf<PathKeyError>({
    EmptyPath: { kind: "EmptyPath" },
    LoneSurrogate: { kind: "LoneSurrogate", index: 2 },
    PathTooLarge: { kind: "PathTooLarge", ...limits },
  }),
  ManifestRowKeyError: samplesOf<ManifestRowKeyError>({ NotU64: { kind: "NotU64", field: "row" } }),
  TupleEncodeError: samplesOf<TupleEncodeError>({
    UnsupportedElement: { kind: "UnsupportedElement", partIndex: 1, given: "symbol" },
    IntegerTooLarge: { kind: "IntegerTooLarge", partIndex: 1 },
    LoneSurrogateInPart: { kind: "LoneSurrogateInPart", partIndex: 1 },
    WrongUuidSize: { kind: "WrongUuidSize", partIndex: 1, size: 15 },
    PartTooDeep: { kind: "PartTooDeep", partIndex: 1 },
    ZeroInDescending: { kind: "ZeroInDescending", partIndex: 1 },
    AmbiguousNull: { kind: "AmbiguousNull", partIndex: 1 },
    KeyTooLarge: { kind: "KeyTooLarge", ...limits },
  }),
  TupleDecodeError: samplesOf<TupleDecodeError>({
    Truncated: { kind: "Truncated", offset: 4 },
    UnknownTypeCode: { kind: "UnknownTypeCode", offset: 4 },
    InvalidUtf8: { kind: "InvalidUtf8", offset: 4 },
    NonCanonical: { kind: "NonCanonical", offset: 4 },
    TooDeep: { kind: "TooDeep", offset: 4 },
  }),
} as const;
