import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertArray, readArray } from "../assert-shape.ts";
import { locateKey } from "../cursors/check-cursor.ts";
import { assertCursor, Cursor, readCursorJson, type CursorJson } from "../cursors/cursor.ts";
import type { JsonCodec } from "../json/json-codec.ts";
import { jsonError } from "../json/json-safe.ts";
import { JsonReader } from "../json/json-reader.ts";
import { MAX_INITIAL_SHARDS, MAX_KEY_SIZE, MAX_TOKEN_SIZE } from "../limits.ts";
import { ShardId } from "../ids/shard-id.ts";
import {
  checkShardSpec,
  copyShardSpec,
  readShardSpec,
  readShardSpecJson,
  type ShardSpecInputError,
  type ShardSpecRef,
} from "../specs/shard-spec-ref.ts";
import { ShardSpec, type ShardSpecJson } from "../specs/shard-spec.ts";
import { assertU64 } from "../ids/u64.ts";

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

/** Why a manifest was refused. It names shards and sizes, never keys. */
export type ManifestValidationError =
  | { readonly kind: "TooManyShards"; readonly count: number; readonly max: number }
  | { readonly kind: "Empty" }
  /** The smallest id that occurs more than once. */
  | { readonly kind: "DuplicateIds"; readonly shardId: ShardId }
  /** Bit 63 of the id is set, which only a split may do. *Addition.* */
  | { readonly kind: "DerivedIdInManifest"; readonly shardId: ShardId }
  /** An initial shard must have both bounds. Otherwise the range of the run would be unknown. */
  | { readonly kind: "UnboundedRange"; readonly shardId: ShardId }
  | { readonly kind: "InvalidSpec"; readonly shardId: ShardId; readonly reason: ShardSpecInputError }
  /** `shardA` starts first, or was listed first where both start at one key. */
  | { readonly kind: "OverlappingRanges"; readonly shardA: ShardId; readonly shardB: ShardId }
  | { readonly kind: "CursorKeyTooLarge"; readonly shardId: ShardId; readonly size: number; readonly max: number }
  /** *Addition.* */
  | { readonly kind: "CursorTokenTooLarge"; readonly shardId: ShardId; readonly size: number; readonly max: number }
  | { readonly kind: "CursorOutOfBounds"; readonly shardId: ShardId };

const readInitialShardJson = /* @__PURE__ */ JsonReader.object<InitialShardInput>({
  shard: JsonReader.u64,
  spec: readShardSpecJson,
  cursor: readCursorJson,
});

/** Reading an entry does not validate it: `validateManifest` does, together with all others. */
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
 * Validates the first shards of a run.
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

  // Each shard is read once, for all rules that concern it alone, because reading dominates the cost: ten thousand
  // shards do not fit in the processor's cache. The findings are then ordered by rule.
  let unbounded: ManifestValidationError | undefined;
  let invalid: ManifestValidationError | undefined;
  let misplaced: ManifestValidationError | undefined;
  const shards = readArray(manifest, "manifest", (entry) => {
    const shard = readInitialShard(entry);
    unbounded ??= findMissingBound(shard);
    invalid ??= findInvalidSpec(shard);
    misplaced ??= findMisplacedCursor(shard);
    return shard;
  });

  const fault = findFaultyId(shards) ?? unbounded ?? invalid ?? findOverlap(shards) ?? misplaced;
  return fault === undefined ? ok() : err(fault);
}

function findFaultyId(shards: readonly InitialShardInput[]): ManifestValidationError | undefined {
  const sorted = new BigUint64Array(shards.length);
  for (const [index, { shard }] of shards.entries()) sorted[index] = shard;
  // A typed array sorts without a callback, many times faster than an array of bigints.
  sorted.sort();

  // Read as halves: reading the whole would allocate a bigint.
  const halves = new Uint32Array(sorted.buffer);
  for (let at = 2; at < halves.length; at += 2) {
    if (halves[at] === halves[at - 2] && halves[at + 1] === halves[at - 1]) {
      return jsonError({ kind: "DuplicateIds", shardId: sorted[at / 2] as ShardId });
    }
  }
  if (!ShardId.isDerived(sorted.at(-1) as ShardId)) return undefined;
  const shardId = shards.find(({ shard }) => ShardId.isDerived(shard))!.shard;
  return jsonError({ kind: "DerivedIdInManifest", shardId });
}

function findMissingBound({ shard, spec }: InitialShardInput): ManifestValidationError | undefined {
  if (spec.keyRangeStart.length > 0 && spec.keyRangeEnd.length > 0) return undefined;
  return jsonError({ kind: "UnboundedRange", shardId: shard });
}

function findInvalidSpec({ shard, spec }: InitialShardInput): ManifestValidationError | undefined {
  const checked = checkShardSpec(spec);
  return checked.ok ? undefined : jsonError({ kind: "InvalidSpec", shardId: shard, reason: checked.error });
}

function findOverlap(shards: readonly InitialShardInput[]): ManifestValidationError | undefined {
  const sorted = shards.toSorted((a, b) => compareBytes(a.spec.keyRangeStart, b.spec.keyRangeStart));
  for (let index = 1; index < sorted.length; index++) {
    const a = sorted[index - 1]!;
    const b = sorted[index]!;
    if (compareBytes(a.spec.keyRangeEnd, b.spec.keyRangeStart) > 0) {
      return jsonError({ kind: "OverlappingRanges", shardA: a.shard, shardB: b.shard });
    }
  }
  return undefined;
}

function findMisplacedCursor({ shard, spec, cursor }: InitialShardInput): ManifestValidationError | undefined {
  const { lastKey, token } = cursor;
  if (lastKey === undefined) return undefined;
  if (lastKey.length > MAX_KEY_SIZE) {
    return jsonError({ kind: "CursorKeyTooLarge", shardId: shard, size: lastKey.length, max: MAX_KEY_SIZE });
  }
  if (token !== undefined && token.length > MAX_TOKEN_SIZE) {
    return jsonError({ kind: "CursorTokenTooLarge", shardId: shard, size: token.length, max: MAX_TOKEN_SIZE });
  }
  return locateKey(lastKey, spec) === "InBounds" ? undefined : jsonError({ kind: "CursorOutOfBounds", shardId: shard });
}

/** Reads each field of an entry once. Throws if it is malformed. */
function readInitialShard(input: unknown): InitialShardInput {
  assertObject(input, "manifest entry");
  const { shard, spec, cursor } = input as InitialShardInput;
  assertU64(shard, "shard id");
  assertCursor(cursor);
  return { shard, spec: readShardSpec(spec), cursor };
}
