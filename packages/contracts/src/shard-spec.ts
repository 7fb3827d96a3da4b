import { assert, assertBytes, compareBytes, equalBytes, err, ok, type Brand, type Result } from "@gossip/stdx";
import { assertObject } from "./assert-shape.ts";
import { MAX_KEY_SIZE, MAX_METADATA_SIZE } from "./limits.ts";

/**
 * A look at a shard's spec, checked or not, owned or borrowed.
 *
 * The range is `[keyRangeStart, keyRangeEnd)` in byte order, and an empty bound is
 * no bound. A borrowed one is good only until its owner changes it: never keep it,
 * and never carry it over an `await`.
 */
export interface ShardSpecRef {
  readonly keyRangeStart: Uint8Array;
  readonly keyRangeEnd: Uint8Array;
  readonly metadata: Uint8Array;
}

/** A shard's spec that was checked and owns its bytes: the constructors copy. Do not write to them. */
export type ShardSpec = Brand<ShardSpecRef, "ShardSpec">;

/** The bounds of a range. An empty one is no bound. */
export interface RangeInput {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

export interface RangeAndMetadataInput extends RangeInput {
  readonly metadata: Uint8Array;
}

/** Why a spec was refused. Sizes only. */
export type ShardSpecInputError =
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "MetadataTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "InvertedRange"; readonly startLen: number; readonly endLen: number };

export interface ShardSpecCompanion {
  /** What `validateShardSpec` refuses is an `InvariantViolation`. */
  withRange(range: RangeInput): ShardSpec;
  /** As `withRange`, with metadata. */
  withRangeAndMetadata(input: RangeAndMetadataInput): ShardSpec;
  /** `withRange` for bounds that came from outside. */
  tryWithRange(range: RangeInput): Result<ShardSpec, ShardSpecInputError>;
  /** `withRangeAndMetadata` for bytes that came from outside. */
  tryWithRangeAndMetadata(input: RangeAndMetadataInput): Result<ShardSpec, ShardSpecInputError>;
  /** Check a spec and copy it out of whatever it was borrowed from. */
  tryFromRef(ref: ShardSpecRef): Result<ShardSpec, ShardSpecInputError>;
  /** Every key, and no metadata. */
  unbounded(): ShardSpec;
  isStartUnbounded(spec: ShardSpecRef): boolean;
  isEndUnbounded(spec: ShardSpecRef): boolean;
  isUnbounded(spec: ShardSpecRef): boolean;
  /** Whether `key` lies in the range: start included, end not. */
  containsKey(spec: ShardSpecRef, key: Uint8Array): boolean;
  /** Whether bounds and metadata are the same. */
  equals(a: ShardSpecRef, b: ShardSpecRef): boolean;
}

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
const UNBOUNDED = /* @__PURE__ */ freezeSpec({ keyRangeStart: NO_BYTES, keyRangeEnd: NO_BYTES, metadata: NO_BYTES });

export const ShardSpec: ShardSpecCompanion = {
  withRange(range) {
    return orThrow(ShardSpec.tryWithRange(range));
  },

  withRangeAndMetadata(input) {
    return orThrow(ShardSpec.tryWithRangeAndMetadata(input));
  },

  tryWithRange(range) {
    assertObject(range, "key range");
    return ShardSpec.tryFromRef({ keyRangeStart: range.start, keyRangeEnd: range.end, metadata: NO_BYTES });
  },

  tryWithRangeAndMetadata(input) {
    assertObject(input, "key range");
    return ShardSpec.tryFromRef({ keyRangeStart: input.start, keyRangeEnd: input.end, metadata: input.metadata });
  },

  tryFromRef(ref) {
    const spec = readShardSpec(ref);
    const checked = checkShardSpec(spec);
    return checked.ok ? ok(copyShardSpec(spec) as ShardSpec) : checked;
  },

  unbounded() {
    return UNBOUNDED;
  },

  isStartUnbounded(spec) {
    return readShardSpec(spec).keyRangeStart.length === 0;
  },

  isEndUnbounded(spec) {
    return readShardSpec(spec).keyRangeEnd.length === 0;
  },

  isUnbounded(spec) {
    const { keyRangeStart, keyRangeEnd } = readShardSpec(spec);
    return keyRangeStart.length === 0 && keyRangeEnd.length === 0;
  },

  containsKey(spec, key) {
    const { keyRangeStart, keyRangeEnd } = readShardSpec(spec);
    assertBytes(key, "key");
    if (compareBytes(key, keyRangeStart) < 0) return false;
    return keyRangeEnd.length === 0 || compareBytes(key, keyRangeEnd) < 0;
  },

  equals(a, b) {
    const left = readShardSpec(a);
    const right = readShardSpec(b);
    return (
      equalBytes(left.keyRangeStart, right.keyRangeStart) &&
      equalBytes(left.keyRangeEnd, right.keyRangeEnd) &&
      equalBytes(left.metadata, right.metadata)
    );
  },
};

/** Check sizes, then the order of the bounds: start, end, metadata, range. The first that fails decides. */
export function validateShardSpec(spec: ShardSpecRef): Result<void, ShardSpecInputError> {
  return checkShardSpec(readShardSpec(spec));
}

/** The rules of `validateShardSpec`, for a spec that `readShardSpec` returned. */
export function checkShardSpec(spec: ShardSpecRef): Result<void, ShardSpecInputError> {
  const { keyRangeStart: start, keyRangeEnd: end, metadata } = spec;
  if (start.length > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size: start.length, max: MAX_KEY_SIZE });
  if (end.length > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size: end.length, max: MAX_KEY_SIZE });
  if (metadata.length > MAX_METADATA_SIZE) {
    return err({ kind: "MetadataTooLarge", size: metadata.length, max: MAX_METADATA_SIZE });
  }
  if (isInverted(start, end)) return err({ kind: "InvertedRange", startLen: start.length, endLen: end.length });
  return ok();
}

/** Whether two real bounds leave no key between them. A missing bound is never inverted. */
export function isInverted(start: Uint8Array, end: Uint8Array): boolean {
  return start.length > 0 && end.length > 0 && compareBytes(start, end) >= 0;
}

/** Copy the bytes of a spec that `readShardSpec` returned, whether its rules hold or not. */
export function copyShardSpec(ref: ShardSpecRef): ShardSpecRef {
  return freezeSpec({
    keyRangeStart: copyBytes(ref.keyRangeStart),
    keyRangeEnd: copyBytes(ref.keyRangeEnd),
    metadata: copyBytes(ref.metadata),
  });
}

/**
 * Read each field of a spec once, and throw unless they are bytes.
 *
 * A borrowed view makes a fresh array at every read of a field. Functions that look
 * at a spec more than once therefore start with this, and use only what it returns.
 */
export function readShardSpec(spec: unknown): ShardSpecRef {
  assertObject(spec, "shard spec");
  const { keyRangeStart, keyRangeEnd, metadata } = spec as ShardSpecRef;
  assertBytes(keyRangeStart, "key range start");
  assertBytes(keyRangeEnd, "key range end");
  assertBytes(metadata, "shard metadata");
  return { keyRangeStart, keyRangeEnd, metadata };
}

// `slice` would do for a Uint8Array, but a Buffer's shares its memory.
function copyBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? NO_BYTES : new Uint8Array(bytes);
}

function freezeSpec(fields: ShardSpecRef): ShardSpec {
  return Object.freeze(fields) as ShardSpec;
}

function orThrow(spec: Result<ShardSpec, ShardSpecInputError>): ShardSpec {
  assert(spec.ok, () => `shard spec was refused: ${describe(spec)}`);
  return spec.value;
}

function describe(spec: Result<ShardSpec, ShardSpecInputError>): string {
  if (spec.ok) return "nothing is wrong with it";
  const { error } = spec;
  switch (error.kind) {
    case "KeyTooLarge":
      return `a bound of ${error.size} bytes is more than ${error.max}`;
    case "MetadataTooLarge":
      return `metadata of ${error.size} bytes is more than ${error.max}`;
    case "InvertedRange":
      return `its start (${error.startLen} bytes) is not below its end (${error.endLen} bytes)`;
  }
}
