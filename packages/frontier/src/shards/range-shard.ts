import type { RangeInput, ShardArena, ShardSpec, ShardSpecHandle, ShardSpecInputError } from "@gossip/contracts";
import { assertBytes, ok, type Result } from "@gossip/stdx";
import type { BorrowedShardSpec } from "./borrowed-shard-spec.ts";
import { encodeSpecMetadata } from "../hints/encode-spec-metadata.ts";
import { ShardHint } from "../hints/shard-hint.ts";
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

/** A range, and the connector's bytes, none where they are left out. */
export interface RangeShardInput extends RangeInput {
  readonly connectorExtra?: Uint8Array;
}

/** Metadata of a range hint and nothing else, which is what most shards have: there is nothing to encode. Never written. */
const PLAIN_RANGE = /* @__PURE__ */ Uint8Array.of(0, 0, 0, 1, 0);

const CONSTRUCTOR: SpecConstructor<RangeShardInput, ShardSpecInputError> = {
  parts(input, scratch) {
    assertInput(input);
    const { start, end } = input;
    assertBytes(start, "start");
    assertBytes(end, "end");
    const connectorExtra = readOptionalBytes(input.connectorExtra, "connectorExtra");
    if (connectorExtra.length === 0) return ok({ keyRangeStart: start, keyRangeEnd: end, metadata: PLAIN_RANGE });

    const keyRangeStart = apartFrom(start, scratch.metadata);
    const keyRangeEnd = apartFrom(end, scratch.metadata);
    const metadata = encodeSpecMetadata({ hint: ShardHint.RANGE, connectorExtra }, scratch.metadata);
    return metadata.ok ? ok({ keyRangeStart, keyRangeEnd, metadata: metadata.value }) : metadata;
  },
  refuse: (error) => error,
};

/** A shard of a range with a `Range` hint. An empty bound means unbounded. Checks the metadata first, then the spec. */
export function rangeShard(input: RangeShardInput): Result<ShardSpec, ShardSpecInputError> {
  return buildOwned(CONSTRUCTOR, input);
}

/** As `rangeShard`, borrowed from `scratch`. */
export function rangeShardRef(
  input: RangeShardInput,
  scratch: ShardSpecScratch,
): Result<BorrowedShardSpec, ShardSpecInputError> {
  return buildRef(CONSTRUCTOR, input, scratch);
}

/** As `rangeShard`, put into `arena`. */
export function rangeShardInto(
  input: RangeShardInput,
  scratch: ShardSpecScratch,
  arena: ShardArena,
): Result<ShardSpecHandle, ShardIntoError<ShardSpecInputError>> {
  return buildInto(CONSTRUCTOR, input, scratch, arena);
}
