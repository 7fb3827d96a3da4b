// `shardSpecFrom…` takes the metadata as it is. `…Shard` encodes it: a hint and the connector's bytes.
import { MAX_KEY_SIZE, type RangeInput, type ShardSpecInputError, type ShardSpecRef } from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import { prefixSuccessorInto } from "../arithmetic/successors.ts";
import type { MetadataBuf } from "../hints/metadata-buf.ts";
import { ShardHint } from "../hints/shard-hint.ts";
import { ShardMetadata } from "../hints/shard-metadata.ts";
import type { KeyBuf } from "../keys/key-buf.ts";
import { assertKeyEncoding, type KeyEncoding } from "../keys/key-encoding.ts";
import type { ManifestRange } from "../keys/manifest-id.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { PrefixShardError, ShardEncodeError } from "./shard-error.ts";
import { apartFrom, checkSpec, intoForm, ownedForm, refForm } from "./shard-spec-forms.ts";
import type { BuildParts, IntoForm, OwnedForm, RefForm } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Metadata with a range hint only, which most shards have. Never modified. */
const PLAIN_RANGE = /* @__PURE__ */ Uint8Array.of(0, 0, 0, 1, 0);

/** Two typed keys that bound a range, and the metadata as it is; none by default. */
export interface KeysSpecInput {
  readonly start: KeyEncoding;
  readonly end: KeyEncoding;
  readonly metadata?: Uint8Array;
}

const keysSpec: BuildParts<KeysSpecInput> = ({ start, end, metadata = NO_BYTES }, scratch) => {
  assertKeyEncoding(start, "start");
  assertKeyEncoding(end, "end");
  assertBytes(metadata, "metadata");
  const ownMetadata = apartFrom(apartFrom(metadata, scratch.start), scratch.end);
  start.encodeInto(scratch.start);
  end.encodeInto(scratch.end);
  return checkBounds(scratch, ownMetadata);
};

/** The spec of the range from one key, inclusive, to another, exclusive. */
export const shardSpecFromKeys: OwnedForm<KeysSpecInput> = /* @__PURE__ */ ownedForm(keysSpec);
/** As `shardSpecFromKeys`, borrowed from a scratch. */
export const shardSpecFromKeysRef: RefForm<KeysSpecInput> = /* @__PURE__ */ refForm(keysSpec);
/** As `shardSpecFromKeys`, put into an arena. */
export const shardSpecFromKeysInto: IntoForm<KeysSpecInput> = /* @__PURE__ */ intoForm(keysSpec);

/** A prefix, and the metadata as it is; none by default. */
export interface PrefixSpecInput {
  readonly prefix: Uint8Array;
  readonly metadata?: Uint8Array;
}

const prefixSpec: BuildParts<PrefixSpecInput, PrefixShardError> = ({ prefix, metadata = NO_BYTES }, { end }) => {
  assertBytes(prefix, "prefix");
  assertBytes(metadata, "metadata");
  const keyRangeStart = apartFrom(prefix, end);
  const ownMetadata = apartFrom(metadata, end);
  const written = writePrefixEnd(keyRangeStart, end);
  if (!written.ok) return written;
  return asPrefixResult(checkSpec({ keyRangeStart, keyRangeEnd: end.asBytes(), metadata: ownMetadata }));
};

/** The spec of all keys with a prefix. Errors, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, those of the spec. */
export const shardSpecFromPrefix: OwnedForm<PrefixSpecInput, PrefixShardError> = /* @__PURE__ */ ownedForm(prefixSpec);
/** As `shardSpecFromPrefix`, borrowed from a scratch. */
export const shardSpecFromPrefixRef: RefForm<PrefixSpecInput, PrefixShardError> = /* @__PURE__ */ refForm(prefixSpec);
/** As `shardSpecFromPrefix`, put into an arena. */
export const shardSpecFromPrefixInto: IntoForm<PrefixSpecInput, PrefixShardError> =
  /* @__PURE__ */ intoForm(prefixSpec);

/** Rows of a manifest, and the metadata as it is; none by default. */
export interface ManifestSpecInput extends ManifestRange {
  readonly metadata?: Uint8Array;
}

const manifestSpec: BuildParts<ManifestSpecInput> = (input, scratch) => {
  const { manifestId, startRow, endRow, metadata = NO_BYTES } = input;
  assertBytes(metadata, "metadata");
  const ownMetadata = apartFrom(apartFrom(metadata, scratch.start), scratch.end);
  new ManifestRowKey({ manifestId, row: startRow }).encodeInto(scratch.start);
  new ManifestRowKey({ manifestId, row: endRow }).encodeInto(scratch.end);
  return checkBounds(scratch, ownMetadata);
};

/** The spec of a range of rows. An empty range is an `InvertedRange`. */
export const shardSpecFromManifestRange: OwnedForm<ManifestSpecInput> = /* @__PURE__ */ ownedForm(manifestSpec);
/** As `shardSpecFromManifestRange`, borrowed from a scratch. */
export const shardSpecFromManifestRangeRef: RefForm<ManifestSpecInput> = /* @__PURE__ */ refForm(manifestSpec);
/** As `shardSpecFromManifestRange`, put into an arena. */
export const shardSpecFromManifestRangeInto: IntoForm<ManifestSpecInput> = /* @__PURE__ */ intoForm(manifestSpec);

/** A range, and the connector's bytes; none by default. */
export interface RangeShardInput extends RangeInput {
  readonly connectorExtra?: Uint8Array;
}

const hintedRange: BuildParts<RangeShardInput> = ({ start, end, connectorExtra = NO_BYTES }, scratch) => {
  assertBytes(start, "start");
  assertBytes(end, "end");
  assertBytes(connectorExtra, "connectorExtra");
  if (connectorExtra.length === 0) return checkSpec({ keyRangeStart: start, keyRangeEnd: end, metadata: PLAIN_RANGE });
  const keyRangeStart = apartFrom(start, scratch.metadata);
  const keyRangeEnd = apartFrom(end, scratch.metadata);
  const metadata = encodeMetadata({ hint: ShardHint.RANGE, connectorExtra }, scratch.metadata);
  return metadata.ok ? checkSpec({ keyRangeStart, keyRangeEnd, metadata: metadata.value }) : metadata;
};

/** A shard of a range with a `Range` hint. An empty bound means unbounded. Checks the metadata first, then the spec. */
export const rangeShard: OwnedForm<RangeShardInput> = /* @__PURE__ */ ownedForm(hintedRange);
/** As `rangeShard`, borrowed from a scratch. */
export const rangeShardRef: RefForm<RangeShardInput> = /* @__PURE__ */ refForm(hintedRange);
/** As `rangeShard`, put into an arena. */
export const rangeShardInto: IntoForm<RangeShardInput> = /* @__PURE__ */ intoForm(hintedRange);

/** A prefix, and the connector's bytes; none by default. */
export interface PrefixShardInput {
  readonly prefix: Uint8Array;
  readonly connectorExtra?: Uint8Array;
}

const hintedPrefix: BuildParts<PrefixShardInput, PrefixShardError> = (input, scratch) => {
  const { connectorExtra = NO_BYTES } = input;
  assertBytes(input.prefix, "prefix");
  assertBytes(connectorExtra, "connectorExtra");
  const prefix = apartFrom(apartFrom(input.prefix, scratch.end), scratch.metadata);
  const ownExtra = apartFrom(connectorExtra, scratch.end);
  const written = writePrefixEnd(prefix, scratch.end);
  if (!written.ok) return written;
  const metadata = encodeMetadata({ hint: { kind: "Prefix", prefix }, connectorExtra: ownExtra }, scratch.metadata);
  if (!metadata.ok) return asPrefixResult(metadata);
  const spec = { keyRangeStart: prefix, keyRangeEnd: scratch.end.asBytes(), metadata: metadata.value };
  return asPrefixResult(checkSpec(spec));
};

/**
 * A shard of all keys that start with a prefix, with a `Prefix` hint.
 *
 * Errors, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, metadata that is too large, other errors of
 * the spec.
 */
export const prefixShard: OwnedForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ ownedForm(hintedPrefix);
/** As `prefixShard`, borrowed from a scratch. */
export const prefixShardRef: RefForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ refForm(hintedPrefix);
/** As `prefixShard`, put into an arena. */
export const prefixShardInto: IntoForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ intoForm(hintedPrefix);

/** Rows of a manifest, and the connector's bytes; none by default. */
export interface ManifestShardInput extends ManifestRange {
  readonly connectorExtra?: Uint8Array;
}

const hintedManifest: BuildParts<ManifestShardInput> = (input, scratch) => {
  const { manifestId, startRow, endRow, connectorExtra = NO_BYTES } = input;
  const hint = { kind: "Manifest", manifestId, startRow, endRow } as const;
  const metadata = encodeMetadata({ hint, connectorExtra }, scratch.metadata);
  return metadata.ok ? manifestSpec({ ...hint, metadata: metadata.value }, scratch) : metadata;
};

/** A shard of a range of rows, with a `Manifest` hint. Without any rows, it is an `InvertedRange`. */
export const manifestShard: OwnedForm<ManifestShardInput> = /* @__PURE__ */ ownedForm(hintedManifest);
/** As `manifestShard`, borrowed from a scratch. */
export const manifestShardRef: RefForm<ManifestShardInput> = /* @__PURE__ */ refForm(hintedManifest);
/** As `manifestShard`, put into an arena. */
export const manifestShardInto: IntoForm<ManifestShardInput> = /* @__PURE__ */ intoForm(hintedManifest);

/** A spec as it is, put into an arena. */
export const specInto: IntoForm<ShardSpecRef> = /* @__PURE__ */ intoForm(checkSpec);

/** The spec of the bounds in a scratch, if it is valid. */
function checkBounds(
  { start, end }: ShardSpecScratch,
  metadata: Uint8Array,
): Result<ShardSpecRef, ShardSpecInputError> {
  return checkSpec({ keyRangeStart: start.asBytes(), keyRangeEnd: end.asBytes(), metadata });
}

/** Writes the end of the range of keys that start with `prefix` into `out`. */
function writePrefixEnd(prefix: Uint8Array, out: KeyBuf): Result<void, PrefixShardError> {
  if (prefix.length === 0) return err({ kind: "EmptyPrefix" });
  if (prefix.length > MAX_KEY_SIZE) return err({ kind: "PrefixTooLarge", size: prefix.length, max: MAX_KEY_SIZE });
  return prefixSuccessorInto(prefix, out) ? ok() : err({ kind: "NoSuccessor" });
}

function asPrefixResult<T>(result: Result<T, ShardSpecInputError>): Result<T, PrefixShardError> {
  return result.ok ? result : err({ kind: "InvalidShardSpec", reason: result.error });
}

/** Encodes metadata into `out` and returns a view of it. Encoding errors are reported as errors of the spec. */
function encodeMetadata(metadata: ShardMetadata, out: MetadataBuf): Result<Uint8Array, ShardSpecInputError> {
  const encoded = ShardMetadata.encodeInto(metadata, out);
  return encoded.ok ? ok(out.asBytes()) : err(asSpecError(encoded.error));
}

function asSpecError(error: ShardEncodeError): ShardSpecInputError {
  switch (error.kind) {
    case "PrefixTooLarge":
      return { kind: "KeyTooLarge", size: error.size, max: MAX_KEY_SIZE };
    case "HintTooLarge":
    case "MetadataTooLarge":
      return { kind: "MetadataTooLarge", size: error.size, max: error.max };
    case "InvertedManifestRows":
      return { kind: "InvertedRange", startLen: ManifestRowKey.ENCODED_LEN, endLen: ManifestRowKey.ENCODED_LEN };
  }
}
