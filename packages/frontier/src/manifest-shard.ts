import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import { lendBounds, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "./encode-spec-metadata.ts";
import { writeManifestBounds, type ManifestRange } from "./shard-spec-from-manifest-range.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** Rows of a manifest, and the connector's bytes, none where they are left out. */
export interface ManifestShardInput extends ManifestRange {
  readonly connectorExtra?: Uint8Array;
}

/** A shard of a range of rows, with a `Manifest` hint. Without any rows, it is an `InvertedRange`. */
export function manifestShard(input: ManifestShardInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(manifestShardRef, input);
}

/** As `manifestShard`, borrowed from `scratch`. */
export function manifestShardRef(
  input: ManifestShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  const { manifestId, startRow, endRow, connectorExtra } = readInput(input, scratch);
  const extra = apartFrom(scratch, readOptionalBytes(connectorExtra, "connectorExtra"));
  const hint = { kind: "Manifest", manifestId, startRow, endRow } as const;

  const encoded = encodeSpecMetadata({ hint, connectorExtra: extra }, scratch.metadata);
  if (!encoded.ok) return encoded;
  writeManifestBounds(hint, scratch);
  return lendBounds(scratch, scratch.metadata.asBytes());
}

/** As `manifestShard`, put into `arena`. */
export function manifestShardInto(
  input: ManifestShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(manifestShardRef, input, scratch, arena);
}
