// What a caller's compiler must know: which kinds an operation can fail with, and that ids and rows are not mixed up.
import type { ShardId, ShardSpecHandle, ShardSpecInputError, ShardSpecRef } from "@gossip/contracts";
import type { Result, SlabFull } from "@gossip/stdx";
import { expectTypeOf, test } from "vitest";
import {
  ManifestId,
  ManifestRow,
  manifestShard,
  prefixShardInto,
  rangeShardRef,
  type BorrowedShardSpec,
  type HintPropagationError,
  type KeyEncoding,
  type PathKey,
  type PreallocShardBuilder,
  type PreallocShardBuilderError,
  type PrefixShardError,
  type ShardEncodeError,
  type ShardHint,
  type ShardHintDecodeError,
  type ShardIntoError,
  type ShardSpecScratch,
  type TupleDecodeError,
  type TupleKey,
} from "./index.ts";

test("errors are closed unions on kind", () => {
  expectTypeOf<PrefixShardError["kind"]>().toEqualTypeOf<
    "EmptyPrefix" | "PrefixTooLarge" | "NoSuccessor" | "InvalidShardSpec"
  >();
  expectTypeOf<ShardHintDecodeError["kind"]>().toEqualTypeOf<
    "EmptyData" | "UnknownTag" | "TruncatedPrefix" | "TruncatedManifest" | "InvertedManifestRows"
  >();
  expectTypeOf<ShardEncodeError["kind"]>().toEqualTypeOf<
    "PrefixTooLarge" | "HintTooLarge" | "MetadataTooLarge" | "InvertedManifestRows"
  >();
  expectTypeOf<HintPropagationError["kind"]>().toEqualTypeOf<
    "InvalidPrefixBoundary" | "InvalidManifestBoundary" | "ManifestIdMismatch" | "EmptyManifestRange"
  >();
  expectTypeOf<PreallocShardBuilderError["kind"]>().toEqualTypeOf<
    | "EntryLimitZero"
    | "CapMismatch"
    | "EntryLimitExceedsManifestMax"
    | "CapacityExceeded"
    | "FanOutExceeded"
    | "SlabFull"
    | "RangeInvalid"
    | "PrefixInvalid"
    | "ManifestCtorInvalid"
    | "SpecInvalid"
    | "InvalidSpecHandle"
    | "ManifestInvalid"
  >();
  expectTypeOf<TupleDecodeError["kind"]>().toEqualTypeOf<
    "Truncated" | "UnknownTypeCode" | "InvalidUtf8" | "NonCanonical" | "TooDeep"
  >();
  expectTypeOf<ShardHint["kind"]>().toEqualTypeOf<"Range" | "Prefix" | "Manifest">();
});

test("a builder's method fails only in its own ways", () => {
  type AddRangeError = Extract<ReturnType<PreallocShardBuilder["addRange"]>, { ok: false }>["error"];
  expectTypeOf<AddRangeError["kind"]>().toEqualTypeOf<"CapacityExceeded" | "RangeInvalid" | "SlabFull">();
  type SplitError = Extract<ReturnType<PreallocShardBuilder["splitManifestByRows"]>, { ok: false }>["error"];
  expectTypeOf<SplitError["kind"]>().toEqualTypeOf<
    "FanOutExceeded" | "CapacityExceeded" | "ManifestCtorInvalid" | "SlabFull"
  >();
  expectTypeOf<PreallocShardBuilder["addSpecHandle"]>().parameter(0).toEqualTypeOf<ShardSpecHandle>();
  expectTypeOf<
    Extract<ReturnType<PreallocShardBuilder["addPrefix"]>, { ok: true }>["value"]
  >().toEqualTypeOf<ShardId>();
});

test("the three forms differ in what they give, not in why they fail", () => {
  expectTypeOf(rangeShardRef).returns.toEqualTypeOf<Result<BorrowedShardSpec, ShardSpecInputError>>();
  expectTypeOf(prefixShardInto).returns.toEqualTypeOf<Result<ShardSpecHandle, ShardIntoError<PrefixShardError>>>();
  expectTypeOf<Extract<ShardIntoError<PrefixShardError>, { kind: "SlabFull" }>>().toEqualTypeOf<SlabFull>();
  expectTypeOf<BorrowedShardSpec>().toExtend<ShardSpecRef>();
  expectTypeOf(rangeShardRef).parameter(1).toEqualTypeOf<ShardSpecScratch>();
});

test("keys are key encodings", () => {
  expectTypeOf<PathKey>().toExtend<KeyEncoding>();
  expectTypeOf<TupleKey>().toExtend<KeyEncoding>();
});

test("manifest ids, rows and plain integers are different types", () => {
  const [manifestId, row] = [ManifestId.fromRaw(7n), ManifestRow.fromRaw(0n)];
  void manifestShard({ manifestId, startRow: row, endRow: row });
  // @ts-expect-error a row is no manifest id
  void manifestShard({ manifestId: row, startRow: row, endRow: row });
  // @ts-expect-error a plain bigint has not been checked to be a row
  void manifestShard({ manifestId, startRow: 0n, endRow: row });
  // @ts-expect-error numbers cannot hold every row
  ManifestRow.fromRaw(0);
});
