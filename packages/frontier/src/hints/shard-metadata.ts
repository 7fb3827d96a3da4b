import { MAX_METADATA_SIZE, toJsonSafe, type InvalidField, type JsonSafe } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import { assertMetadataBuf, MetadataBuf } from "./metadata-buf.ts";
import { readHint } from "./read-hint.ts";
import type { ShardEncodeError } from "../shards/shard-error.ts";
import type { ShardHintDecodeError, ShardMetadataDecodeError } from "./hint-error.ts";
import { assertHint, copyHint, readHintJson, ShardHint, sizeOfHint, writeHint } from "./shard-hint.ts";
import { readU32 } from "../keys/u64-bytes.ts";

/** The content of a shard's metadata: a hint that every package can read, and bytes that only the connector can. */
export interface ShardMetadata {
  readonly hint: ShardHint;
  /** Stored and returned as they are. */
  readonly connectorExtra: Uint8Array;
}

/** Size of the length field before the hint. */
export const LENGTH_FIELD_SIZE = 4;

const readMetadataJson: JsonReader<ShardMetadata> = /* @__PURE__ */ JsonReader.object<ShardMetadata>({
  hint: readHintJson,
  connectorExtra: JsonReader.bytes,
});

// Holds the result of the owned form before it is copied. Nothing here awaits or calls back, so calls cannot
// interleave.
const spare = /* @__PURE__ */ new MetadataBuf();
const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

export const ShardMetadata = {
  /** A hint, and nothing of the connector's. */
  fromHint(hint: ShardHint): ShardMetadata {
    assertHint(hint);
    return { hint, connectorExtra: NO_BYTES };
  },

  /** The size of the envelope in bytes, or why it cannot be encoded. Errors of the hint come first. */
  encodedLength(metadata: ShardMetadata): Result<number, ShardEncodeError> {
    const size = measureMetadata(metadata);
    return typeof size === "number" ? ok(size) : err(size);
  },

  encode(metadata: ShardMetadata): Result<Uint8Array, ShardEncodeError> {
    const encoded = ShardMetadata.encodeInto(metadata, spare);
    return encoded.ok ? ok(spare.toOwned()) : encoded;
  },

  /** Writes the envelope into `out`, which is unchanged on an error. Hot: allocates nothing but an error. */
  encodeInto(metadata: ShardMetadata, out: MetadataBuf): Result<void, ShardEncodeError> {
    assertMetadataBuf(out);
    const size = measureMetadata(metadata);
    if (typeof size !== "number") return err(size);
    writeMetadata(metadata, size, out);
    out.commit(size);
    return ok();
  },

  /**
   * Reads an envelope. Accepts any bytes; no bytes mean a range hint and no connector's bytes. The result owns its
   * bytes; `ShardMetadataView.decode` copies none.
   */
  decode(bytes: Uint8Array): Result<ShardMetadata, ShardMetadataDecodeError> {
    const hintSize = readEnvelope(bytes);
    if (typeof hintSize !== "number") return err(hintSize);
    if (hintSize === 0) return ok(ShardMetadata.fromHint(ShardHint.RANGE));
    const connectorExtra = new Uint8Array(bytes.subarray(LENGTH_FIELD_SIZE + hintSize));
    return ok({ hint: copyHint(bytes, LENGTH_FIELD_SIZE), connectorExtra });
  },

  /** The metadata in JSON: rows as 16 hex digits, bytes as base64url. */
  toJson(metadata: ShardMetadata): JsonSafe<ShardMetadata> {
    assertMetadata(metadata);
    return toJsonSafe(metadata);
  },

  /** Accepts any result of `JSON.parse`. Refuses metadata that has no encoding. */
  fromJson(json: unknown): Result<ShardMetadata, InvalidField | ShardEncodeError> {
    const read = readMetadataJson(json, "");
    if (!read.ok) return read;
    const measured = ShardMetadata.encodedLength(read.value);
    return measured.ok ? read : measured;
  },
} as const;

/**
 * The size of the hint in an envelope, zero if the metadata is empty, or why it is malformed.
 *
 * A number, so that accepting an envelope allocates nothing.
 */
export function readEnvelope(bytes: Uint8Array): number | ShardMetadataDecodeError {
  assertBytes(bytes, "metadata");
  if (bytes.length === 0) return 0;
  if (bytes.length < LENGTH_FIELD_SIZE) return malformed(undefined);
  const declared = readU32(bytes, 0);
  if (declared > bytes.length - LENGTH_FIELD_SIZE) return malformed(undefined);

  const consumed = readHint(bytes, LENGTH_FIELD_SIZE, LENGTH_FIELD_SIZE + declared);
  if (typeof consumed !== "number") return malformed(consumed);
  return consumed === declared ? consumed : malformed(undefined);
}

function assertMetadata(metadata: unknown): asserts metadata is ShardMetadata {
  if (typeof metadata !== "object" || metadata === null)
    assert(false, "metadata must be an object with a hint and connectorExtra");
  const { hint, connectorExtra } = metadata as ShardMetadata;
  assertHint(hint);
  assertBytes(connectorExtra, "connectorExtra");
}

function measureMetadata(metadata: ShardMetadata): number | ShardEncodeError {
  assertMetadata(metadata);
  const hintSize = sizeOfHint(metadata.hint);
  if (typeof hintSize !== "number") return hintSize;
  const size = LENGTH_FIELD_SIZE + hintSize + metadata.connectorExtra.length;
  return size > MAX_METADATA_SIZE ? { kind: "MetadataTooLarge", size, max: MAX_METADATA_SIZE } : size;
}

/** Write metadata that was measured to `size` bytes. Prefix and connector's bytes may be views of `out`. */
function writeMetadata({ hint, connectorExtra }: ShardMetadata, size: number, out: MetadataBuf): void {
  const extraOffset = size - connectorExtra.length;
  // The connector's bytes first, because `set` handles a view of its own target. That may overwrite a prefix that is
  // also such a view, so the prefix is copied before.
  const ownHint = hint.kind === "Prefix" && out.isViewedBy(hint.prefix) ? detachPrefix(hint.prefix) : hint;
  out.bytes.set(connectorExtra, extraOffset);
  out.words.setUint32(0, extraOffset - LENGTH_FIELD_SIZE);
  writeHint(ownHint, out, LENGTH_FIELD_SIZE);
}

function detachPrefix(prefix: Uint8Array): ShardHint {
  return { kind: "Prefix", prefix: new Uint8Array(prefix) };
}

function malformed(hintError: ShardHintDecodeError | undefined): ShardMetadataDecodeError {
  return { kind: "MalformedMetadata", hintError };
}
