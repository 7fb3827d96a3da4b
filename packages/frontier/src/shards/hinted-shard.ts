// Constructors of shards that carry a hint: the metadata is the hint and the connector's bytes.
import { MAX_KEY_SIZE, type RangeInput, type ShardSpecInputError } from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { MetadataBuf } from "../hints/metadata-buf.ts";
import { ShardHint } from "../hints/shard-hint.ts";
import { ShardMetadata } from "../hints/shard-metadata.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { PrefixShardError, ShardEncodeError } from "./shard-error.ts";
import {
  apartFrom,
  assertInput,
  intoForm,
  ownedForm,
  readOptionalBytes,
  refForm,
  type IntoForm,
  type OwnedForm,
  type RefForm,
  type SpecConstructor,
} from "./shard-spec-forms.ts";
import { asPrefixError, writeManifestBounds, writePrefixEnd, type ManifestRange } from "./shard-spec-from.ts";

/** A range, and the connector's bytes; none by default. */
export interface RangeShardInput extends RangeInput {
  readonly connectorExtra?: Uint8Array;
}

/** Metadata with a range hint only, which most shards have. Never modified. */
const PLAIN_RANGE = /* @__PURE__ */ Uint8Array.of(0, 0, 0, 1, 0);

const RANGE: SpecConstructor<RangeShardInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const { start, end } = input;
    assertBytes(start, "start");
    assertBytes(end, "end");
    const connectorExtra = readOptionalBytes(input.connectorExtra, "connectorExtra");
    if (connectorExtra.length === 0) return ok({ keyRangeStart: start, keyRangeEnd: end, metadata: PLAIN_RANGE });

    const keyRangeStart = apartFrom(start, scratch.metadata);
    const keyRangeEnd = apartFrom(end, scratch.metadata);
    const metadata = encodeSpecMetadata({ hint: ShardHint.RANGE, connectorExtra }, scratch.metadata);
    return metadata.ok ? ok({ keyRangeStart, keyRangeEnd, metadata: metadata.value }) : metadata;
  },
  refuse: (error) => error,
};

/** A shard of a range with a `Range` hint. An empty bound means unbounded. Checks the metadata first, then the spec. */
export const rangeShard: OwnedForm<RangeShardInput, ShardSpecInputError> = /* @__PURE__ */ ownedForm(RANGE);
/** As `rangeShard`, borrowed from a scratch. */
export const rangeShardRef: RefForm<RangeShardInput, ShardSpecInputError> = /* @__PURE__ */ refForm(RANGE);
/** As `rangeShard`, put into an arena. */
export const rangeShardInto: IntoForm<RangeShardInput, ShardSpecInputError> = /* @__PURE__ */ intoForm(RANGE);

/** A prefix, and the connector's bytes; none by default. */
export interface PrefixShardInput {
  readonly prefix: Uint8Array;
  readonly connectorExtra?: Uint8Array;
}

const PREFIX: SpecConstructor<PrefixShardInput, PrefixShardError> = {
  parts(input, scratch) {
    assertInput(input);
    assertBytes(input.prefix, "prefix");
    const prefix = apartFrom(apartFrom(input.prefix, scratch.end), scratch.metadata);
    const connectorExtra = apartFrom(readOptionalBytes(input.connectorExtra, "connectorExtra"), scratch.end);
    const written = writePrefixEnd(prefix, scratch.end);
    if (!written.ok) return written;
    const metadata = encodeSpecMetadata({ hint: { kind: "Prefix", prefix }, connectorExtra }, scratch.metadata);
    if (!metadata.ok) return err(asPrefixError(metadata.error));
    return ok({ keyRangeStart: prefix, keyRangeEnd: scratch.end.asBytes(), metadata: metadata.value });
  },
  refuse: asPrefixError,
};

/**
 * A shard of all keys that start with a prefix, with a `Prefix` hint.
 *
 * Errors, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, metadata that is too large, other errors of
 * the spec.
 */
export const prefixShard: OwnedForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ ownedForm(PREFIX);
/** As `prefixShard`, borrowed from a scratch. */
export const prefixShardRef: RefForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ refForm(PREFIX);
/** As `prefixShard`, put into an arena. */
export const prefixShardInto: IntoForm<PrefixShardInput, PrefixShardError> = /* @__PURE__ */ intoForm(PREFIX);

/** Rows of a manifest, and the connector's bytes; none by default. */
export interface ManifestShardInput extends ManifestRange {
  readonly connectorExtra?: Uint8Array;
}

const MANIFEST: SpecConstructor<ManifestShardInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const { manifestId, startRow, endRow } = input;
    const hint = { kind: "Manifest", manifestId, startRow, endRow } as const;
    const connectorExtra = readOptionalBytes(input.connectorExtra, "connectorExtra");
    const metadata = encodeSpecMetadata({ hint, connectorExtra }, scratch.metadata);
    if (!metadata.ok) return metadata;
    writeManifestBounds(hint, scratch);
    return ok({ keyRangeStart: scratch.start.asBytes(), keyRangeEnd: scratch.end.asBytes(), metadata: metadata.value });
  },
  refuse: (error) => error,
};

/** A shard of a range of rows, with a `Manifest` hint. Without any rows, it is an `InvertedRange`. */
export const manifestShard: OwnedForm<ManifestShardInput, ShardSpecInputError> = /* @__PURE__ */ ownedForm(MANIFEST);
/** As `manifestShard`, borrowed from a scratch. */
export const manifestShardRef: RefForm<ManifestShardInput, ShardSpecInputError> = /* @__PURE__ */ refForm(MANIFEST);
/** As `manifestShard`, put into an arena. */
export const manifestShardInto: IntoForm<ManifestShardInput, ShardSpecInputError> = /* @__PURE__ */ intoForm(MANIFEST);

/** Encodes metadata into `out` and returns a view of it. Encoding errors are reported as errors of the spec. */
function encodeSpecMetadata(metadata: ShardMetadata, out: MetadataBuf): Result<Uint8Array, ShardSpecInputError> {
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
