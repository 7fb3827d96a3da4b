import { MAX_METADATA_SIZE, toJsonSafe, type InvalidField, type JsonSafe } from "@gossip/contracts";
import { assertU64, jsonError, JsonReader, variantReader } from "@gossip/contracts/internal";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { ManifestId, ManifestRange, ManifestRow } from "../keys/manifest-id.ts";
import { assertMetadataBuf, MetadataBuf } from "./metadata-buf.ts";
import { MANIFEST_HINT_SIZE, PREFIX_HEADER_SIZE, readHint, TAG_MANIFEST, TAG_PREFIX, TAG_RANGE } from "./read-hint.ts";
import type { ShardEncodeError } from "../shards/shard-error.ts";
import type { ShardHintDecodeError } from "./hint-error.ts";
import { readU32, readU64 } from "../keys/u64-bytes.ts";

/**
 * What a shard's range means to the connector that works on it.
 *
 * - `Range`    — no information beyond the range.
 * - `Prefix`   — all keys that start with `prefix`.
 * - `Manifest` — rows `[startRow, endRow)` of one manifest; there is at least one.
 */
export type ShardHint =
  | { readonly kind: "Range" }
  | { readonly kind: "Prefix"; readonly prefix: Uint8Array }
  | ManifestHint;

export interface ManifestHint extends ManifestRange {
  readonly kind: "Manifest";
}

/** A hint and the number of bytes it was read from. */
export interface DecodedShardHint {
  readonly hint: ShardHint;
  readonly consumed: number;
}

const MAX_PREFIX_LENGTH = 0xffff_ffff;

const { bytes: readBytes, u64 } = JsonReader;

/** Reads a hint from JSON, without checking its size. Spelled out, because public declarations cannot use `JsonReader`. */
export const readHintJson: (json: unknown, field: string) => Result<ShardHint, InvalidField> =
  /* @__PURE__ */ variantReader<ShardHint>({
    Range: {},
    Prefix: { prefix: readBytes },
    Manifest: { manifestId: u64, startRow: u64, endRow: u64 },
  });

// Holds the result of the owned form before it is copied. Nothing here awaits or calls back, so calls cannot
// interleave.
const spare = /* @__PURE__ */ new MetadataBuf();
const RANGE: ShardHint = /* @__PURE__ */ Object.freeze({ kind: "Range" });

export const ShardHint = {
  /** The hint without information. One shared value. */
  RANGE,

  /** How many bytes the hint takes, or why it has no encoding. */
  encodedLength(hint: ShardHint): Result<number, ShardEncodeError> {
    const size = measureHint(hint);
    return typeof size === "number" ? ok(size) : err(size);
  },

  encode(hint: ShardHint): Result<Uint8Array, ShardEncodeError> {
    const encoded = ShardHint.encodeInto(hint, spare);
    return encoded.ok ? ok(spare.toOwned()) : encoded;
  },

  /** Writes the hint into `out`, which is unchanged on an error. Hot: allocates nothing but an error. */
  encodeInto(hint: ShardHint, out: MetadataBuf): Result<void, ShardEncodeError> {
    assertMetadataBuf(out);
    const size = measureHint(hint);
    if (typeof size !== "number") return err(size);
    writeHint(hint, out, 0);
    out.commit(size);
    return ok();
  },

  /**
   * Reads a hint from the start of `bytes`, and ignores what follows it. Accepts any bytes. The hint owns its bytes;
   * `ShardHintView.decode` copies none.
   */
  decode(bytes: Uint8Array): Result<DecodedShardHint, ShardHintDecodeError> {
    assertBytes(bytes, "bytes");
    const consumed = readHint(bytes, 0, bytes.length);
    return typeof consumed === "number" ? ok({ hint: copyHint(bytes, 0), consumed }) : err(consumed);
  },

  /** The hint in JSON: rows as 16 hex digits, the prefix as base64url. */
  toJson(hint: ShardHint): JsonSafe<ShardHint> {
    assertHint(hint);
    return toJsonSafe(hint);
  },

  /** Accepts any result of `JSON.parse`. Refuses a hint that has no encoding. */
  fromJson(json: unknown): Result<ShardHint, InvalidField | ShardEncodeError> {
    const read = readHintJson(json, "");
    if (!read.ok) return read;
    const measured = ShardHint.encodedLength(read.value);
    return measured.ok ? read : measured;
  },
} as const;

/** How many bytes a hint takes, or why it has no encoding. */
function measureHint(hint: ShardHint): number | ShardEncodeError {
  assertHint(hint);
  return sizeOfHint(hint);
}

/** The same for a value that is known to be a hint. Checks the prefix first, then the whole. */
export function sizeOfHint(hint: ShardHint): number | ShardEncodeError {
  switch (hint.kind) {
    case "Range":
      return 1;
    case "Prefix": {
      const prefixSize = hint.prefix.length;
      if (prefixSize > MAX_PREFIX_LENGTH) return { kind: "PrefixTooLarge", size: prefixSize, max: MAX_PREFIX_LENGTH };
      const size = PREFIX_HEADER_SIZE + prefixSize;
      return size > MAX_METADATA_SIZE ? { kind: "HintTooLarge", size, max: MAX_METADATA_SIZE } : size;
    }
    case "Manifest": {
      const { startRow, endRow } = hint;
      return startRow < endRow ? MANIFEST_HINT_SIZE : jsonError({ kind: "InvertedManifestRows", startRow, endRow });
    }
  }
}

/** Writes a hint of known size at `offset`. The buffer must have room for it. */
export function writeHint(hint: ShardHint, { bytes, words }: MetadataBuf, offset: number): void {
  switch (hint.kind) {
    case "Range":
      bytes[offset] = TAG_RANGE;
      break;
    case "Prefix":
      // The prefix first: it may be a view of the buffer, which `set` handles.
      bytes.set(hint.prefix, offset + PREFIX_HEADER_SIZE);
      bytes[offset] = TAG_PREFIX;
      words.setUint32(offset + 1, hint.prefix.length);
      break;
    case "Manifest":
      bytes[offset] = TAG_MANIFEST;
      words.setBigUint64(offset + 1, hint.manifestId);
      words.setBigUint64(offset + 9, hint.startRow);
      words.setBigUint64(offset + 17, hint.endRow);
      break;
  }
}

/** Copy out the hint at `offset`, which `readHint` accepted. */
export function copyHint(bytes: Uint8Array, offset: number): ShardHint {
  switch (bytes[offset]!) {
    case TAG_PREFIX:
      return { kind: "Prefix", prefix: new Uint8Array(prefixAt(bytes, offset)) };
    case TAG_MANIFEST:
      return {
        kind: "Manifest",
        manifestId: readU64(bytes, offset + 1) as ManifestId,
        startRow: readU64(bytes, offset + 9) as ManifestRow,
        endRow: readU64(bytes, offset + 17) as ManifestRow,
      };
    default:
      return RANGE;
  }
}

/** A view of the prefix in the prefix hint at `offset`. */
export function prefixAt(bytes: Uint8Array, offset: number): Uint8Array {
  const start = offset + PREFIX_HEADER_SIZE;
  return bytes.subarray(start, start + readU32(bytes, offset + 1));
}

/** Assert that a value is a hint of a known kind, with the fields of that kind. */
export function assertHint(hint: unknown): asserts hint is ShardHint {
  const candidate = hint as ShardHint | null | undefined;
  if (candidate?.kind === "Range") return;
  if (candidate?.kind === "Prefix") {
    assertBytes(candidate.prefix, "hint prefix");
  } else if (candidate?.kind === "Manifest") {
    assertU64(candidate.manifestId, "hint manifest id");
    assertU64(candidate.startRow, "hint start row");
    assertU64(candidate.endRow, "hint end row");
  } else {
    assert(false, "hint must be of kind Range, Prefix or Manifest");
  }
}
