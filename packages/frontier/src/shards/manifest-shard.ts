import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "../hints/encode-spec-metadata.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import {
  assertInput,
  buildInto,
  buildOwned,
  buildRef,
  readOptionalBytes,
  type SpecConstructor,
} from "./shard-spec-forms.ts";
import { writeManifestBounds, type ManifestRange } from "./shard-spec-from-manifest-range.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** Rows of a manifest, and the connector's bytes, none where they are left out. */
export interface ManifestShardInput extends ManifestRange {
  readonly connectorExtra?: Uint8Array;
}

const CONSTRUCTOR: SpecConstructor<ManifestShardInput, ShardSpecInputError> = {
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
export function manifestShard(input: ManifestShardInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `manifestShard`, borrowed from `scratch`. */
export function manifestShardRef(
  input: ManifestShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `manifestShard`, put into `arena`. */
export function manifestShardInto(
  input: ManifestShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}
