import type { ShardSpecRef } from "@gossip/contracts";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import { assertMetadataBuf, MetadataBuf } from "./metadata-buf.ts";
import type { ShardHint } from "./shard-hint.ts";
import { ENCODED_RANGE, pointHintView, ShardHintView } from "./shard-hint-view.ts";
import type { ShardMetadataDecodeError } from "./hint-error.ts";
import { LENGTH_FIELD_SIZE, readEnvelope, ShardMetadata } from "./shard-metadata.ts";
import { ShardMetadataView } from "./shard-metadata-view.ts";

// All six check the whole envelope, so that they accept the same specs. The `Into` forms allocate nothing but an error,
// if reading `metadata` does not: that of an owned spec is a field, that of a borrowed one a new view.

/** Decodes the metadata of a spec into a copy. */
export function decodeMetadata(spec: ShardSpecRef): Result<ShardMetadata, ShardMetadataDecodeError> {
  return ShardMetadata.decode(metadataOf(spec));
}

/** The hint of a spec, as a copy. */
export function decodeHint(spec: ShardSpecRef): Result<ShardHint, ShardMetadataDecodeError> {
  const decoded = decodeMetadata(spec);
  return decoded.ok ? ok(decoded.value.hint) : decoded;
}

/** The connector's bytes of a spec, as a copy. */
export function decodeConnectorExtra(spec: ShardSpecRef): Result<Uint8Array, ShardMetadataDecodeError> {
  const decoded = decodeMetadata(spec);
  return decoded.ok ? ok(decoded.value.connectorExtra) : decoded;
}

/** Points `out` at the metadata of a spec. On an error, `out` does not change. Hot: allocates nothing but an error. */
export function decodeMetadataInto(spec: ShardSpecRef, out: ShardMetadataView): Result<void, ShardMetadataDecodeError> {
  if (!(out instanceof ShardMetadataView)) assert(false, "out must be a ShardMetadataView");
  return out.decode(metadataOf(spec));
}

/** Points `out` at the hint of a spec. On an error, `out` does not change. Hot: allocates nothing but an error. */
export function decodeHintInto(spec: ShardSpecRef, out: ShardHintView): Result<void, ShardMetadataDecodeError> {
  if (!(out instanceof ShardHintView)) assert(false, "out must be a ShardHintView");
  const metadata = metadataOf(spec);
  const hintSize = readEnvelope(metadata);
  if (typeof hintSize !== "number") return err(hintSize);
  if (hintSize === 0) pointHintView(out, ENCODED_RANGE, 0, 0);
  else pointHintView(out, metadata, LENGTH_FIELD_SIZE, hintSize);
  return ok();
}

/** Copies the connector's bytes of a spec into `out`. On an error, `out` does not change. Hot: allocates nothing but an error. */
export function decodeConnectorExtraInto(spec: ShardSpecRef, out: MetadataBuf): Result<void, ShardMetadataDecodeError> {
  assertMetadataBuf(out);
  const metadata = metadataOf(spec);
  const hintSize = readEnvelope(metadata);
  if (typeof hintSize !== "number") return err(hintSize);
  const size = metadata.length;
  if (size > MetadataBuf.CAPACITY) assert(false, `metadata must be at most ${MetadataBuf.CAPACITY} bytes, got ${size}`);

  // Copy all of it, then move it to the front: cutting it first would need a view.
  const extraOffset = hintSize === 0 ? 0 : LENGTH_FIELD_SIZE + hintSize;
  out.bytes.set(metadata);
  out.bytes.copyWithin(0, extraOffset, size);
  out.commit(size - extraOffset);
  return ok();
}

function metadataOf(spec: ShardSpecRef): Uint8Array {
  if (typeof spec !== "object" || spec === null) assert(false, "spec must be a shard spec");
  const metadata = spec.metadata;
  assertBytes(metadata, "shard metadata");
  return metadata;
}
