import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ManifestId, ManifestRow } from "../keys/manifest-id.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
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

/** Rows `[startRow, endRow)` of a manifest. */
export interface ManifestRange {
  readonly manifestId: ManifestId;
  readonly startRow: ManifestRow;
  readonly endRow: ManifestRow;
}

/** Rows of a manifest, and the metadata as it is, none where it is left out. */
export interface ManifestSpecInput extends ManifestRange {
  readonly metadata?: Uint8Array;
}

const CONSTRUCTOR: SpecConstructor<ManifestSpecInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const given = readOptionalBytes(input.metadata, "metadata");
    const metadata = apartFrom(apartFrom(given, scratch.start), scratch.end);
    writeManifestBounds(input, scratch);
    return ok({ keyRangeStart: scratch.start.asBytes(), keyRangeEnd: scratch.end.asBytes(), metadata });
  },
  refuse: (error) => error,
};

/** The spec of a range of rows. Without any, it is an `InvertedRange`. */
export function shardSpecFromManifestRange(input: ManifestSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `shardSpecFromManifestRange`, borrowed from `scratch`. */
export function shardSpecFromManifestRangeRef(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `shardSpecFromManifestRange`, put into `arena`. */
export function shardSpecFromManifestRangeInto(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}

/** Write into the scratch the keys of both rows. */
export function writeManifestBounds({ manifestId, startRow, endRow }: ManifestRange, scratch: ShardSpecScratch): void {
  new ManifestRowKey({ manifestId, row: startRow }).encodeInto(scratch.start);
  new ManifestRowKey({ manifestId, row: endRow }).encodeInto(scratch.end);
}
