import type { ShardArena, ShardSpec, ShardSpecHandle } from "@gossip/contracts";
import { assertBytes, type Result } from "@gossip/stdx";
import { lendBounds, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "./encode-spec-metadata.ts";
import { wrapRefusal, writePrefixBounds } from "./prefix-bounds.ts";
import type { PrefixShardError } from "./prefix-shard-error.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** A prefix, and the connector's bytes, none where they are left out. */
export interface PrefixShardInput {
  readonly prefix: Uint8Array;
  readonly connectorExtra?: Uint8Array;
}

/**
 * A shard of all keys that start with a prefix, with a `Prefix` hint.
 *
 * Refused, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, metadata
 * that is too large, and what makes no spec.
 */
export function prefixShard(input: PrefixShardInput): Result<ShardSpec, PrefixShardError> {
  return buildOwned(prefixShardRef, input);
}

/** As `prefixShard`, borrowed from `scratch`. */
export function prefixShardRef(
  input: PrefixShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, PrefixShardError> {
  const { prefix: given, connectorExtra } = readInput(input, scratch);
  assertBytes(given, "prefix");
  const prefix = apartFrom(scratch, given);
  const extra = apartFrom(scratch, readOptionalBytes(connectorExtra, "connectorExtra"));

  const bounds = writePrefixBounds(prefix, scratch);
  if (!bounds.ok) return bounds;
  const encoded = encodeSpecMetadata({ hint: { kind: "Prefix", prefix }, connectorExtra: extra }, scratch.metadata);
  if (!encoded.ok) return wrapRefusal(encoded);
  return wrapRefusal(lendBounds(scratch, scratch.metadata.asBytes()));
}

/** As `prefixShard`, put into `arena`. */
export function prefixShardInto(
  input: PrefixShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<PrefixShardError>> {
  return buildInto(prefixShardRef, input, scratch, arena);
}
