import { expectTypeOf } from "vitest";
import { variantReader } from "./json/json-codec.ts";
import { JsonReader } from "./json/json-reader.ts";
import type { ManifestValidationError } from "./manifest/manifest.ts";
import type { SplitReplacePlanningError } from "./splits/plan-split-replace.ts";
import type { SplitResidualPlanningError } from "./splits/plan-split-residual.ts";
import type { ShardSpecInputError } from "./specs/shard-spec-ref.ts";
import type { SplitValidationError } from "./splits/validate-split.ts";

// A kind that comes or goes is a breaking change: it must show here.
expectTypeOf<SplitValidationError["kind"]>().toEqualTypeOf<
  | "NoChildren"
  | "SingleChild"
  | "StartMismatch"
  | "EndMismatch"
  | "BoundaryMismatch"
  | "InvertedChild"
  | "OverlappingChild"
  | "ParentCursorOutOfBounds"
  | "SpawnLimitExceeded"
  | "BackendChildLimitExceeded"
  | "ShardLimitExceeded"
  | "DerivedIdCollision"
  | "InvalidChildSpec"
  | "InvalidChildCursor"
>();
expectTypeOf<ManifestValidationError["kind"]>().toEqualTypeOf<
  | "TooManyShards"
  | "Empty"
  | "DuplicateIds"
  | "DerivedIdInManifest"
  | "UnboundedRange"
  | "InvalidSpec"
  | "OverlappingRanges"
  | "CursorKeyTooLarge"
  | "CursorTokenTooLarge"
  | "CursorOutOfBounds"
>();
expectTypeOf<SplitReplacePlanningError["kind"]>().toEqualTypeOf<
  "InvalidChildCount" | "InvalidCoverage" | "SplitPointBehindCursor"
>();
expectTypeOf<SplitResidualPlanningError["kind"]>().toEqualTypeOf<
  | "MissingCursor"
  | "NoSuccessor"
  | "SplitPointOutOfBounds"
  | "InvalidPlan"
  | "InvalidCoverage"
  | "SplitPointBehindCursor"
>();

const { count } = JsonReader;
const complete = { KeyTooLarge: { size: count, max: count }, MetadataTooLarge: { size: count, max: count } };

variantReader<ShardSpecInputError>({ ...complete, InvertedRange: { startLen: count, endLen: count } });
// @ts-expect-error InvertedRange is missing
variantReader<ShardSpecInputError>(complete);
// @ts-expect-error InvertedRange lacks a field
variantReader<ShardSpecInputError>({ ...complete, InvertedRange: { startLen: count } });
// @ts-expect-error a size is no text
variantReader<ShardSpecInputError>({ ...complete, InvertedRange: { startLen: count, endLen: JsonReader.text } });
