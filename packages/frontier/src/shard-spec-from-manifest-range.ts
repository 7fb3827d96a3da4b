import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import { lendBounds, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import type { ManifestId, ManifestRow } from "./manifest-id.ts";
import { ManifestRowKey } from "./manifest-row-key.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
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

/** The spec of a range of rows. Without any, it is an `InvertedRange`. */
export function shardSpecFromManifestRange(input: ManifestSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(shardSpecFromManifestRangeRef, input);
}

/** As `shardSpecFromManifestRange`, borrowed from `scratch`. */
export function shardSpecFromManifestRangeRef(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  const { metadata, ...range } = readInput(input, scratch);
  const ownMetadata = apartFrom(scratch, readOptionalBytes(metadata, "metadata"));

  writeManifestBounds(range, scratch);
  return lendBounds(scratch, ownMetadata);
}

/** As `shardSpecFromManifestRange`, put into `arena`. */
export function shardSpecFromManifestRangeInto(
  input: ManifestSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(shardSpecFromManifestRangeRef, input, scratch, arena);
}

/** Write into the scratch the keys of both rows. */
export function writeManifestBounds({ manifestId, startRow, endRow }: ManifestRange, scratch: ShardSpecScratch): void {
  new ManifestRowKey({ manifestId, row: startRow }).encodeInto(scratch.start);
  new ManifestRowKey({ manifestId, row: endRow }).encodeInto(scratch.end);
}
