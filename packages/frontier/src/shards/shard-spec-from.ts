// Constructors of specs whose metadata the caller gives as it is.
import { MAX_KEY_SIZE, type ShardSpecInputError } from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import { prefixSuccessorInto } from "../arithmetic/prefix-successor.ts";
import type { KeyBuf } from "../keys/key-buf.ts";
import { assertKeyEncoding, type KeyEncoding } from "../keys/key-encoding.ts";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { PrefixShardError } from "./shard-error.ts";
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
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** Two typed keys that bound a range, and the metadata as it is; none by default. */
export interface KeysSpecInput {
  readonly start: KeyEncoding;
  readonly end: KeyEncoding;
  readonly metadata?: Uint8Array;
}

const KEYS: SpecConstructor<KeysSpecInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const { start, end } = input;
    assertKeyEncoding(start, "start");
    assertKeyEncoding(end, "end");
    const given = readOptionalBytes(input.metadata, "metadata");
    const metadata = apartFrom(apartFrom(given, scratch.start), scratch.end);
    start.encodeInto(scratch.start);
    end.encodeInto(scratch.end);
    return ok({ keyRangeStart: scratch.start.asBytes(), keyRangeEnd: scratch.end.asBytes(), metadata });
  },
  refuse: (error) => error,
};

/** The spec of the range from one key, inclusive, to another, exclusive. */
export const shardSpecFromKeys: OwnedForm<KeysSpecInput, ShardSpecInputError> = /* @__PURE__ */ ownedForm(KEYS);
/** As `shardSpecFromKeys`, borrowed from a scratch. */
export const shardSpecFromKeysRef: RefForm<KeysSpecInput, ShardSpecInputError> = /* @__PURE__ */ refForm(KEYS);
/** As `shardSpecFromKeys`, put into an arena. */
export const shardSpecFromKeysInto: IntoForm<KeysSpecInput, ShardSpecInputError> = /* @__PURE__ */ intoForm(KEYS);

/** A prefix, and the metadata as it is; none by default. */
export interface PrefixSpecInput {
  readonly prefix: Uint8Array;
  readonly metadata?: Uint8Array;
}

const PREFIX: SpecConstructor<PrefixSpecInput, PrefixShardError> = {
  parts(input, scratch) {
    assertInput(input);
    assertBytes(input.prefix, "prefix");
    const prefix = apartFrom(input.prefix, scratch.end);
    const metadata = apartFrom(readOptionalBytes(input.metadata, "metadata"), scratch.end);
    const written = writePrefixEnd(prefix, scratch.end);
    return written.ok ? ok({ keyRangeStart: prefix, keyRangeEnd: scratch.end.asBytes(), metadata }) : written;
  },
  refuse: asPrefixError,
};

/** The spec of all keys with a prefix. Errors, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, those of the spec. */
export const shardSpecFromPrefix: OwnedForm<PrefixSpecInput, PrefixShardError> = /* @__PURE__ */ ownedForm(PREFIX);
/** As `shardSpecFromPrefix`, borrowed from a scratch. */
export const shardSpecFromPrefixRef: RefForm<PrefixSpecInput, PrefixShardError> = /* @__PURE__ */ refForm(PREFIX);
/** As `shardSpecFromPrefix`, put into an arena. */
export const shardSpecFromPrefixInto: IntoForm<PrefixSpecInput, PrefixShardError> = /* @__PURE__ */ intoForm(PREFIX);

/** Rows `[startRow, endRow)` of a manifest. */
export interface ManifestRange {
  readonly manifestId: ManifestId;
  readonly startRow: ManifestRow;
  readonly endRow: ManifestRow;
}

/** Rows of a manifest, and the metadata as it is; none by default. */
export interface ManifestSpecInput extends ManifestRange {
  readonly metadata?: Uint8Array;
}

const MANIFEST: SpecConstructor<ManifestSpecInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const given = readOptionalBytes(input.metadata, "metadata");
    const metadata = apartFrom(apartFrom(given, scratch.start), scratch.end);
    writeManifestBounds(input, scratch);
    return ok({ keyRangeStart: scratch.start.asBytes(), keyRangeEnd: scratch.end.asBytes(), metadata });
  },
  refuse: (error) => error,
};

/** The spec of a range of rows. An empty range is an `InvertedRange`. */
export const shardSpecFromManifestRange: OwnedForm<ManifestSpecInput, ShardSpecInputError> =
  /* @__PURE__ */ ownedForm(MANIFEST);
/** As `shardSpecFromManifestRange`, borrowed from a scratch. */
export const shardSpecFromManifestRangeRef: RefForm<ManifestSpecInput, ShardSpecInputError> =
  /* @__PURE__ */ refForm(MANIFEST);
/** As `shardSpecFromManifestRange`, put into an arena. */
export const shardSpecFromManifestRangeInto: IntoForm<ManifestSpecInput, ShardSpecInputError> =
  /* @__PURE__ */ intoForm(MANIFEST);

/** Writes the keys of both rows into the scratch. */
export function writeManifestBounds({ manifestId, startRow, endRow }: ManifestRange, scratch: ShardSpecScratch): void {
  new ManifestRowKey({ manifestId, row: startRow }).encodeInto(scratch.start);
  new ManifestRowKey({ manifestId, row: endRow }).encodeInto(scratch.end);
}

/** Writes the end of the range of keys that start with `prefix` into `out`. */
export function writePrefixEnd(prefix: Uint8Array, out: KeyBuf): Result<void, PrefixShardError> {
  if (prefix.length === 0) return err({ kind: "EmptyPrefix" });
  if (prefix.length > MAX_KEY_SIZE) return err({ kind: "PrefixTooLarge", size: prefix.length, max: MAX_KEY_SIZE });
  return prefixSuccessorInto(prefix, out) ? ok() : err({ kind: "NoSuccessor" });
}

/** Converts an error of a spec. */
export function asPrefixError(reason: ShardSpecInputError): PrefixShardError {
  return { kind: "InvalidShardSpec", reason };
}
