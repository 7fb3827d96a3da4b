import type { ShardArena, ShardSpec, ShardSpecHandle } from "@gossip/contracts";
import { assertBytes, err, ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "../hints/encode-spec-metadata.ts";
import { asPrefixError, writePrefixEnd } from "../arithmetic/prefix-bounds.ts";
import type { PrefixShardError } from "./prefix-shard-error.ts";
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

/** A prefix, and the connector's bytes, none where they are left out. */
export interface PrefixShardInput {
  readonly prefix: Uint8Array;
  readonly connectorExtra?: Uint8Array;
}

const CONSTRUCTOR: SpecConstructor<PrefixShardInput, PrefixShardError> = {
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
 * Refused, in this order: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, metadata
 * that is too large, and what makes no spec.
 */
export function prefixShard(input: PrefixShardInput): Result<ShardSpec, PrefixShardError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `prefixShard`, borrowed from `scratch`. */
export function prefixShardRef(
  input: PrefixShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, PrefixShardError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `prefixShard`, put into `arena`. */
export function prefixShardInto(
  input: PrefixShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<PrefixShardError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}
