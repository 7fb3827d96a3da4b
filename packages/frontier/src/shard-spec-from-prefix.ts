import type { ShardArena, ShardSpec, ShardSpecHandle } from "@gossip/contracts";
import { assertBytes, type Result } from "@gossip/stdx";
import { lendBounds, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { wrapRefusal, writePrefixBounds } from "./prefix-bounds.ts";
import type { PrefixShardError } from "./prefix-shard-error.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** A prefix, and the metadata as it is, none where it is left out. */
export interface PrefixSpecInput {
  readonly prefix: Uint8Array;
  readonly metadata?: Uint8Array;
}

/** The spec of all keys that start with a prefix: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, then what makes no spec. */
export function shardSpecFromPrefix(input: PrefixSpecInput): Result<ShardSpec, PrefixShardError> {
  return buildOwned(shardSpecFromPrefixRef, input);
}

/** As `shardSpecFromPrefix`, borrowed from `scratch`. */
export function shardSpecFromPrefixRef(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, PrefixShardError> {
  const { prefix, metadata } = readInput(input, scratch);
  assertBytes(prefix, "prefix");
  const ownMetadata = apartFrom(scratch, readOptionalBytes(metadata, "metadata"));

  const bounds = writePrefixBounds(apartFrom(scratch, prefix), scratch);
  if (!bounds.ok) return bounds;
  return wrapRefusal(lendBounds(scratch, ownMetadata));
}

/** As `shardSpecFromPrefix`, put into `arena`. */
export function shardSpecFromPrefixInto(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<PrefixShardError>> {
  return buildInto(shardSpecFromPrefixRef, input, scratch, arena);
}
