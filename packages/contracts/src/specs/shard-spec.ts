import { assertBytes, equalBytes, InvariantViolation, ok, type Brand, type Result } from "@gossip/stdx";
import { assertObject, encodeBase64Url } from "@gossip/stdx/internal";
import { locateKey } from "../cursors/check-cursor.ts";
import type { InvalidField } from "../json/json-reader.ts";
import { checkShardSpec, copyShardSpec, NO_BYTES, readShardSpec, readShardSpecJson } from "./shard-spec-ref.ts";
import type { ShardSpecInputError, ShardSpecRef } from "./shard-spec-ref.ts";

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

const UNBOUNDED = /* @__PURE__ */ copyShardSpec({
  keyRangeStart: NO_BYTES,
  keyRangeEnd: NO_BYTES,
  metadata: NO_BYTES,
}) as ShardSpec;

export const ShardSpec = {
  /** What `validateShardSpec` refuses is an `InvariantViolation`. */
  withRange(range: RangeInput): ShardSpec {
    return orThrow(ShardSpec.tryWithRange(range));
  },

  /** As `withRange`, with metadata. */
  withRangeAndMetadata(input: RangeAndMetadataInput): ShardSpec {
    return orThrow(ShardSpec.tryWithRangeAndMetadata(input));
  },

  /** `withRange` for bounds that came from outside. */
  tryWithRange(range: RangeInput): Result<ShardSpec, ShardSpecInputError> {
    assertObject(range, "key range");
    return ShardSpec.tryFromRef({ keyRangeStart: range.start, keyRangeEnd: range.end, metadata: NO_BYTES });
  },

  /** `withRangeAndMetadata` for bytes that came from outside. */
  tryWithRangeAndMetadata(input: RangeAndMetadataInput): Result<ShardSpec, ShardSpecInputError> {
    assertObject(input, "key range");
    return ShardSpec.tryFromRef({ keyRangeStart: input.start, keyRangeEnd: input.end, metadata: input.metadata });
  },

  /** Check a spec and copy it out of whatever it was borrowed from. */
  tryFromRef(ref: ShardSpecRef): Result<ShardSpec, ShardSpecInputError> {
    const spec = readShardSpec(ref);
    const checked = checkShardSpec(spec);
    return checked.ok ? ok(copyShardSpec(spec) as ShardSpec) : checked;
  },

  /** Every key, and no metadata. */
  unbounded(): ShardSpec {
    return UNBOUNDED;
  },

  isStartUnbounded(spec: ShardSpecRef): boolean {
    return readShardSpec(spec).keyRangeStart.length === 0;
  },

  isEndUnbounded(spec: ShardSpecRef): boolean {
    return readShardSpec(spec).keyRangeEnd.length === 0;
  },

  isUnbounded(spec: ShardSpecRef): boolean {
    const { keyRangeStart, keyRangeEnd } = readShardSpec(spec);
    return keyRangeStart.length === 0 && keyRangeEnd.length === 0;
  },

  /** Whether `key` lies in the range: start included, end not. */
  containsKey(spec: ShardSpecRef, key: Uint8Array): boolean {
    const read = readShardSpec(spec);
    assertBytes(key, "key");
    return locateKey(key, read) === "InBounds";
  },

  /** Whether bounds and metadata are the same. */
  equals(a: ShardSpecRef, b: ShardSpecRef): boolean {
    const left = readShardSpec(a);
    const right = readShardSpec(b);
    return (
      equalBytes(left.keyRangeStart, right.keyRangeStart) &&
      equalBytes(left.keyRangeEnd, right.keyRangeEnd) &&
      equalBytes(left.metadata, right.metadata)
    );
  },

  toJson(spec: ShardSpecRef): ShardSpecJson {
    const { keyRangeStart, keyRangeEnd, metadata } = readShardSpec(spec);
    return {
      keyRangeStart: encodeBase64Url(keyRangeStart),
      keyRangeEnd: encodeBase64Url(keyRangeEnd),
      metadata: encodeBase64Url(metadata),
    };
  },

  /** Read a spec and check it. */
  fromJson(json: unknown): Result<ShardSpec, InvalidField | ShardSpecInputError> {
    const ref = readShardSpecJson(json, "");
    return ref.ok ? ShardSpec.tryFromRef(ref.value) : ref;
  },
} as const;

function orThrow(spec: Result<ShardSpec, ShardSpecInputError>): ShardSpec {
  if (!spec.ok) throw new InvariantViolation(`shard spec was refused: ${refusalInWords(spec.error)}`);
  return spec.value;
}

function refusalInWords(error: ShardSpecInputError): string {
  switch (error.kind) {
    case "KeyTooLarge":
      return `a bound of ${error.size} bytes is more than ${error.max}`;
    case "MetadataTooLarge":
      return `metadata of ${error.size} bytes is more than ${error.max}`;
    case "InvertedRange":
      return `its start (${error.startLen} bytes) is not below its end (${error.endLen} bytes)`;
  }
}
