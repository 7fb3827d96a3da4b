import { assertBytes, compareBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { JsonReader } from "../json/json-reader.ts";
import { MAX_KEY_SIZE, MAX_METADATA_SIZE } from "../limits.ts";

/**
 * A view of a shard's spec, checked or not, owned or borrowed.
 *
 * The range is `[keyRangeStart, keyRangeEnd)` in byte order, and an empty bound is no bound. A borrowed one is good
 * only until its owner changes it: never keep it, and never carry it over an `await`.
 */
export interface ShardSpecRef {
  readonly keyRangeStart: Uint8Array;
  readonly keyRangeEnd: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Shared by all empty fields. It has no bytes that could be modified. */
export const NO_BYTES: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

/** Check sizes, then the order of the bounds: start, end, metadata, range. The first that fails decides. */
export function validateShardSpec(spec: ShardSpecRef): Result<void, ShardSpecInputError> {
  return checkShardSpec(readShardSpec(spec));
}

/** The rules of `validateShardSpec`, for a spec that `readShardSpec` returned. */
export function checkShardSpec(spec: ShardSpecRef): Result<void, ShardSpecInputError> {
  return checkFields(spec.keyRangeStart, spec.keyRangeEnd, spec.metadata);
}

/** The same for separate fields: the arena uses this form to allocate nothing. */
export function checkFields(
  start: Uint8Array,
  end: Uint8Array,
  metadata: Uint8Array,
): Result<void, ShardSpecInputError> {
  if (start.length > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size: start.length, max: MAX_KEY_SIZE });
  if (end.length > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size: end.length, max: MAX_KEY_SIZE });
  if (metadata.length > MAX_METADATA_SIZE) {
    return err({ kind: "MetadataTooLarge", size: metadata.length, max: MAX_METADATA_SIZE });
  }
  if (areInverted(start, end)) return err({ kind: "InvertedRange", startLen: start.length, endLen: end.length });
  return ok();
}

/** Whether two real bounds leave no key between them. A missing bound is never inverted. */
export function areInverted(start: Uint8Array, end: Uint8Array): boolean {
  return start.length > 0 && end.length > 0 && compareBytes(start, end) >= 0;
}

/**
 * Read each field of a spec once, and throw unless they are bytes.
 *
 * A borrowed view makes a fresh array at every read of a field. Functions that look at a spec more than once therefore
 * start with this, and use only what it returns.
 */
export function readShardSpec(spec: unknown): ShardSpecRef {
  assertObject(spec, "shard spec");
  const { keyRangeStart, keyRangeEnd, metadata } = spec as ShardSpecRef;
  assertFields(keyRangeStart, keyRangeEnd, metadata);
  return { keyRangeStart, keyRangeEnd, metadata };
}

/** Throw unless the fields of a spec are bytes. */
export function assertFields(start: unknown, end: unknown, metadata: unknown): void {
  assertBytes(start, "key range start");
  assertBytes(end, "key range end");
  assertBytes(metadata, "shard metadata");
}

/** Reads the fields of a spec from JSON, without validating the spec. */
export const readShardSpecJson: JsonReader<ShardSpecRef> = /* @__PURE__ */ JsonReader.object({
  keyRangeStart: JsonReader.bytes,
  keyRangeEnd: JsonReader.bytes,
  metadata: JsonReader.bytes,
});

/** Copy the bytes of a spec that `readShardSpec` returned, whether its rules hold or not. */
export function copyShardSpec(spec: ShardSpecRef): ShardSpecRef {
  return Object.freeze({
    keyRangeStart: copyBytes(spec.keyRangeStart),
    keyRangeEnd: copyBytes(spec.keyRangeEnd),
    metadata: copyBytes(spec.metadata),
  });
}

// Not `slice`: that of a Buffer shares its memory.
function copyBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? NO_BYTES : new Uint8Array(bytes);
}

/** Why a spec was refused. Sizes only. */
export type ShardSpecInputError =
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "MetadataTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "InvertedRange"; readonly startLen: number; readonly endLen: number };
