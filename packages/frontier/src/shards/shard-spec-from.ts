// Constructors of specs whose metadata the caller gives as it is.
import {
  MAX_KEY_SIZE,
  type ShardArena,
  type ShardSpec,
  type ShardSpecHandle,
  type ShardSpecInputError,
} from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { prefixSuccessorInto } from "../arithmetic/prefix-successor.ts";
import type { KeyBuf } from "../keys/key-buf.ts";
import { assertKeyEncoding, type KeyEncoding } from "../keys/key-encoding.ts";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { PrefixShardError, ShardIntoError } from "./shard-error.ts";
import {
  apartFrom,
  assertInput,
  buildInto,
  buildOwned,
  buildRef,
  readOptionalBytes,
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
export function shardSpecFromKeys(input: KeysSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(KEYS, input);
}

/** As `shardSpecFromKeys`, borrowed from `scratch`. */
export function shardSpecFromKeysRef(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(KEYS, input, scratch);
}

/** As `shardSpecFromKeys`, put into `arena`. */
export function shardSpecFromKeysInto(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(KEYS, input, scratch, arena);
}

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
export function shardSpecFromPrefix(input: PrefixSpecInput): Result<ShardSpec, PrefixShardError> {
  return buildOwned(PREFIX, input);
}

/** As `shardSpecFromPrefix`, borrowed from `scratch`. */
export function shardSpecFromPrefixRef(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, PrefixShardError> {
  return buildRef(PREFIX, input, scratch);
}

/** As `shardSpecFromPrefix`, put into `arena`. */
export function shardSpecFromPrefixInto(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<PrefixShardError>> {
  return buildInto(PREFIX, input, scratch, arena);
}

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
export function shardSpecFromManifestRange(input: ManifestSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(MANIFEST, input);
}

/** As `shardSpecFromManifestRange`, borrowed from `scratch`. */
export function shardSpecFromManifestRangeRef(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(MANIFEST, input, scratch);
}

/** As `shardSpecFromManifestRange`, put into `arena`. */
export function shardSpecFromManifestRangeInto(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(MANIFEST, input, scratch, arena);
}

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
