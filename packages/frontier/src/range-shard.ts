import type { RangeInput, ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import { assertBytes, type Result } from "@gossip/stdx";
import { lend, type BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "./encode-spec-metadata.ts";
import { ShardHint } from "./shard-hint.ts";
import type { ShardIntoError } from "./shard-into-error.ts";
import { apartFrom, buildInto, buildOwned, readInput, readOptionalBytes } from "./shard-spec-forms.ts";
import type { ShardSpecScratch } from "./shard-spec-scratch.ts";

/** A range, and the connector's bytes, none where they are left out. */
export interface RangeShardInput extends RangeInput {
  readonly connectorExtra?: Uint8Array;
}

/** A shard of a range with a `Range` hint. An empty bound is no bound. Metadata is checked first, then the spec. */
export function rangeShard(input: RangeShardInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(rangeShardRef, input);
}

/** As `rangeShard`, borrowed from `scratch`. */
export function rangeShardRef(
  input: RangeShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  const { start, end, connectorExtra } = readInput(input, scratch);
  assertBytes(start, "start");
  assertBytes(end, "end");
  const keyRangeStart = apartFrom(scratch, start);
  const keyRangeEnd = apartFrom(scratch, end);
  const extra = readOptionalBytes(connectorExtra, "connectorExtra");

  const encoded = encodeSpecMetadata({ hint: ShardHint.RANGE, connectorExtra: extra }, scratch.metadata);
  if (!encoded.ok) return encoded;
  return lend({ keyRangeStart, keyRangeEnd, metadata: scratch.metadata.asBytes() }, scratch);
}

/** As `rangeShard`, put into `arena`. */
export function rangeShardInto(
  input: RangeShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(rangeShardRef, input, scratch, arena);
}
