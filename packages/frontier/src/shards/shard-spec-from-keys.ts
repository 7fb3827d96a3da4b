import type { ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { assertKeyEncoding, type KeyEncoding } from "../keys/key-encoding.ts";
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

/** Two typed keys that bound a range, and the metadata as it is, none where it is left out. */
export interface KeysSpecInput {
  readonly start: KeyEncoding;
  readonly end: KeyEncoding;
  readonly metadata?: Uint8Array;
}

const CONSTRUCTOR: SpecConstructor<KeysSpecInput, ShardSpecInputError> = {
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

/** The spec of the range from one key, included, to another, left out. */
export function shardSpecFromKeys(input: KeysSpecInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `shardSpecFromKeys`, borrowed from `scratch`. */
export function shardSpecFromKeysRef(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `shardSpecFromKeys`, put into `arena`. */
export function shardSpecFromKeysInto(
  input: KeysSpecInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}
