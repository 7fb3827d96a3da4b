import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertArray, assertObject, readArray } from "./assert-shape.ts";
import { checkCursorBounds } from "./check-cursor.ts";
import { assertCursor, Cursor, readCursorJson, type CursorJson } from "./cursor.ts";
import type { JsonCodec } from "./json-codec.ts";
import { jsonError } from "./json-error.ts";
import { JsonReader } from "./json-reader.ts";
import { MAX_INITIAL_SHARDS, MAX_KEY_SIZE, MAX_TOKEN_SIZE } from "./limits.ts";
import type { ManifestValidationError } from "./manifest-validation-error.ts";
import { ShardId } from "./shard-id.ts";
import { checkShardSpec, copyShardSpec, readShardSpec, readShardSpecJson, type ShardSpecRef } from "./shard-spec-ref.ts";
import { ShardSpec, type ShardSpecJson } from "./shard-spec.ts";
import { assertU64 } from "./u64.ts";

/** One of the shards that a run starts with. */
export interface InitialShardInput {
  readonly shard: ShardId;
  readonly spec: ShardSpecRef;
  readonly cursor: Cursor;
}

/** A manifest's entry in JSON. */
export interface InitialShardJson {
  readonly shard: string;
  readonly spec: ShardSpecJson;
  readonly cursor: CursorJson;
}

const readInitialShardJson = /* @__PURE__ */ JsonReader.object<InitialShardInput>({
  shard: JsonReader.u64,
  spec: readShardSpecJson,
  cursor: readCursorJson,
});

/** Reading an entry does not check it: `validateManifest` does, with all others. */
export const InitialShardInput: JsonCodec<InitialShardInput, InitialShardJson> = {
  toJson(input) {
    const { shard, spec, cursor } = readInitialShard(input);
    return { shard: ShardId.format(shard), spec: ShardSpec.toJson(spec), cursor: Cursor.toJson(cursor) };
  },

  fromJson(json) {
    const read = readInitialShardJson(json, "");
    return read.ok ? ok({ ...read.value, spec: copyShardSpec(read.value.spec) }) : read;
  },
};

/**
 * Check the shards that a run is to start with.
 *
 * The first broken rule decides:
 *
 * 1. at most 10,000 shards, and at least one;
 * 2. no id twice, and none that only a split may give;
 * 3. both bounds present, then valid specs, each over all shards as listed;
 * 4. no two ranges overlap: they may touch, and gaps are allowed;
 * 5. shard by shard as listed: size of the cursor's key, of its token, and the key within the range.
 */
export function validateManifest(manifest: readonly InitialShardInput[]): Result<void, ManifestValidationError> {
  const count = assertArray(manifest, "manifest").length;
  if (count > MAX_INITIAL_SHARDS) return err({ kind: "TooManyShards", count, max: MAX_INITIAL_SHARDS });
  if (count === 0) return err({ kind: "Empty" });
  const shards = readArray(manifest, "manifest", readInitialShard);

  const ids = checkIds(shards);
  if (!ids.ok) return ids;
  const specs = checkSpecs(shards);
  if (!specs.ok) return specs;
  const ranges = checkOverlap(shards);
  if (!ranges.ok) return ranges;
  return checkCursors(shards);
}

function checkIds(shards: readonly InitialShardInput[]): Result<void, ManifestValidationError> {
  // Numbers of a typed array sort without calling back, many times faster than bigints of a plain one.
  const sorted = BigUint64Array.from(shards, (input) => input.shard).sort();
  for (let index = 1; index < sorted.length; index++) {
    if (sorted[index] === sorted[index - 1]) {
      return err(jsonError({ kind: "DuplicateIds", shardId: sorted[index] as ShardId }));
    }
  }
  const derived = shards.find((input) => ShardId.isDerived(input.shard));
  return derived ? err(jsonError({ kind: "DerivedIdInManifest", shardId: derived.shard })) : ok();
}

function checkSpecs(shards: readonly InitialShardInput[]): Result<void, ManifestValidationError> {
  for (const { shard, spec } of shards) {
    if (spec.keyRangeStart.length === 0 || spec.keyRangeEnd.length === 0) {
      return err(jsonError({ kind: "UnboundedRange", shardId: shard }));
    }
  }
  for (const { shard, spec } of shards) {
    const checked = checkShardSpec(spec);
    if (!checked.ok) return err(jsonError({ kind: "InvalidSpec", shardId: shard, reason: checked.error }));
  }
  return ok();
}

function checkOverlap(shards: readonly InitialShardInput[]): Result<void, ManifestValidationError> {
  const ranges = shards.map(({ shard, spec }) => ({ shard, start: spec.keyRangeStart, end: spec.keyRangeEnd }));
  ranges.sort((a, b) => compareBytes(a.start, b.start));
  for (let index = 1; index < ranges.length; index++) {
    const a = ranges[index - 1]!;
    const b = ranges[index]!;
    if (compareBytes(a.end, b.start) > 0) {
      return err(jsonError({ kind: "OverlappingRanges", shardA: a.shard, shardB: b.shard }));
    }
  }
  return ok();
}

function checkCursors(shards: readonly InitialShardInput[]): Result<void, ManifestValidationError> {
  for (const { shard, spec, cursor } of shards) {
    const keySize = cursor.lastKey?.length ?? 0;
    const tokenSize = cursor.token?.length ?? 0;
    if (keySize > MAX_KEY_SIZE) {
      return err(jsonError({ kind: "CursorKeyTooLarge", shardId: shard, size: keySize, max: MAX_KEY_SIZE }));
    }
    if (tokenSize > MAX_TOKEN_SIZE) {
      return err(jsonError({ kind: "CursorTokenTooLarge", shardId: shard, size: tokenSize, max: MAX_TOKEN_SIZE }));
    }
    const place = checkCursorBounds(cursor, spec);
    if (place === "BelowRange" || place === "AboveRange") {
      return err(jsonError({ kind: "CursorOutOfBounds", shardId: shard }));
    }
  }
  return ok();
}

/** Read each field of an entry once, and throw unless it is one. */
export function readInitialShard(input: unknown): InitialShardInput {
  assertObject(input, "manifest entry");
  const { shard, spec, cursor } = input as InitialShardInput;
  assertU64(shard, "shard id");
  assertCursor(cursor);
  return { shard, spec: readShardSpec(spec), cursor };
}
