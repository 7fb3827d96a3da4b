import { assertBytes, compareBytes, equalBytes, InvariantViolation, ok, type Brand, type Result } from "@gossip/stdx";
import { assertObject, encodeBase64Url } from "@gossip/stdx/internal";
import type { InvalidField } from "../json/json-reader.ts";
import { specRefusalInWords, type ShardSpecInputError } from "./shard-spec-input-error.ts";
import { checkShardSpec, copyShardSpec, NO_BYTES, readShardSpec, readShardSpecJson } from "./shard-spec-ref.ts";
import type { ShardSpecRef } from "./shard-spec-ref.ts";

/** A shard's spec that was checked and owns its bytes: the constructors copy. Do not write to them. */
export type ShardSpec = Brand<ShardSpecRef, "ShardSpec">;

/** The bounds of a range. An empty bound means unbounded. */
export interface RangeInput {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

export interface RangeAndMetadataInput extends RangeInput {
  readonly metadata: Uint8Array;
}

/** A spec in JSON: bytes as base64url. */
export interface ShardSpecJson {
  readonly keyRangeStart: string;
  readonly keyRangeEnd: string;
  readonly metadata: string;
}

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
  toJson(spec: ShardSpecRef): ShardSpecJson;
  /** Read a spec and check it. */
  fromJson(json: unknown): Result<ShardSpec, InvalidField | ShardSpecInputError>;
}

const UNBOUNDED = /* @__PURE__ */ copyShardSpec({
  keyRangeStart: NO_BYTES,
  keyRangeEnd: NO_BYTES,
  metadata: NO_BYTES,
}) as ShardSpec;

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

  toJson(spec) {
    const { keyRangeStart, keyRangeEnd, metadata } = readShardSpec(spec);
    return {
      keyRangeStart: encodeBase64Url(keyRangeStart),
      keyRangeEnd: encodeBase64Url(keyRangeEnd),
      metadata: encodeBase64Url(metadata),
    };
  },

  fromJson(json) {
    const ref = readShardSpecJson(json, "");
    return ref.ok ? ShardSpec.tryFromRef(ref.value) : ref;
  },
};

function orThrow(spec: Result<ShardSpec, ShardSpecInputError>): ShardSpec {
  if (!spec.ok) throw new InvariantViolation(`shard spec was refused: ${specRefusalInWords(spec.error)}`);
  return spec.value;
}
