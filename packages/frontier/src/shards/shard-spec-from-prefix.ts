import type { ShardArena, ShardSpec, ShardSpecHandle } from "@gossip/contracts";
import { assertBytes, ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
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

/** A prefix, and the metadata as it is, none where it is left out. */
export interface PrefixSpecInput {
  readonly prefix: Uint8Array;
  readonly metadata?: Uint8Array;
}

const CONSTRUCTOR: SpecConstructor<PrefixSpecInput, PrefixShardError> = {
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

/** The spec of all keys that start with a prefix: `EmptyPrefix`, `PrefixTooLarge`, `NoSuccessor`, then what makes no spec. */
export function shardSpecFromPrefix(input: PrefixSpecInput): Result<ShardSpec, PrefixShardError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `shardSpecFromPrefix`, borrowed from `scratch`. */
export function shardSpecFromPrefixRef(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, PrefixShardError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `shardSpecFromPrefix`, put into `arena`. */
export function shardSpecFromPrefixInto(
  input: PrefixSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<PrefixShardError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}
