import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import { lendBounds, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { assertKeyEncoding, type KeyEncoding } from "./key-encoding.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** Two typed keys that bound a range, and the metadata as it is, none where it is left out. */
export interface KeysSpecInput {
  readonly start: KeyEncoding;
  readonly end: KeyEncoding;
  readonly metadata?: Uint8Array;
}

/** The spec of the range from one key, included, to another, left out. */
export function shardSpecFromKeys(input: KeysSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(shardSpecFromKeysRef, input);
}

/** As `shardSpecFromKeys`, borrowed from `scratch`. */
export function shardSpecFromKeysRef(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  const { start, end, metadata } = readInput(input, scratch);
  assertKeyEncoding(start, "start");
  assertKeyEncoding(end, "end");
  const ownMetadata = apartFrom(scratch, readOptionalBytes(metadata, "metadata"));

  start.encodeInto(scratch.start);
  end.encodeInto(scratch.end);
  return lendBounds(scratch, ownMetadata);
}

/** As `shardSpecFromKeys`, put into `arena`. */
export function shardSpecFromKeysInto(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(shardSpecFromKeysRef, input, scratch, arena);
}
