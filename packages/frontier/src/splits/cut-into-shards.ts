import type { ShardSpecInputError } from "@gossip/contracts";
import { assert, assertBytes, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { ManifestRow } from "../keys/manifest-id.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { type ManifestShardInput, rangeShardRef, type RangeShardInput } from "../shards/shard-constructors.ts";
import type { ShardSpecScratch } from "../shards/shard-spec-scratch.ts";
import { assertU64 } from "@gossip/contracts/internal";

/** A range to cut at `splitPoints`, in order, and the connector's bytes of every part. */
export interface RangeSplitInput extends RangeShardInput {
  readonly splitPoints: readonly Uint8Array[];
}

/** Rows to cut into parts of `rowsPerShard`, and the connector's bytes of every part. */
export interface ManifestSplitInput extends ManifestShardInput {
  readonly rowsPerShard: bigint;
}

export function assertRangeSplit(input: RangeSplitInput): void {
  assertObject(input, "a range to split");
  assertBytes(input.start, "start");
  assertBytes(input.end, "end");
  assert(Array.isArray(input.splitPoints), "splitPoints must be an array of keys");
  for (const point of input.splitPoints) assertBytes(point, "split point");
}

/** The parts, not validated. */
export function cutRange({ start, splitPoints, end, ...rest }: RangeSplitInput): RangeShardInput[] {
  const starts = [start, ...splitPoints];
  return starts.map((partStart, index) => ({ ...rest, start: partStart, end: splitPoints[index] ?? end }));
}

/** Check every part before any is staged. */
export function checkParts(
  parts: readonly RangeShardInput[],
  scratch: ShardSpecScratch,
): Result<void, ShardSpecInputError> {
  for (const [index, part] of parts.entries()) {
    const checked = rangeShardRef(part, scratch);
    if (!checked.ok) return checked;
    // An empty bound means unbounded, which is right for the ends of the range. Between two parts it would make them
    // overlap.
    const isOpenInside = part.end.length === 0 && index < parts.length - 1;
    if (isOpenInside) return err({ kind: "InvertedRange", startLen: part.start.length, endLen: 0 });
  }
  return ok();
}

/** The number of parts, up to 2^53 − 1. No rows, or zero rows per part, are an `InvertedRange`. */
export function countManifestParts(input: ManifestSplitInput): Result<number, ShardSpecInputError> {
  assertObject(input, "a manifest to split");
  const { manifestId, startRow, endRow, rowsPerShard } = input;
  assertU64(manifestId, "manifest id");
  assertU64(startRow, "start row");
  assertU64(endRow, "end row");
  assertU64(rowsPerShard, "rows per shard");
  if (startRow >= endRow || rowsPerShard === 0n) {
    return err({ kind: "InvertedRange", startLen: ManifestRowKey.ENCODED_LEN, endLen: ManifestRowKey.ENCODED_LEN });
  }
  const count = (endRow - startRow + rowsPerShard - 1n) / rowsPerShard;
  return ok(Math.min(Number(count), Number.MAX_SAFE_INTEGER));
}

/** The parts. Call `countManifestParts` first. */
export function cutManifest({ startRow, endRow, rowsPerShard, ...rest }: ManifestSplitInput): ManifestShardInput[] {
  const parts: ManifestShardInput[] = [];
  for (let row: bigint = startRow; row < endRow; row += rowsPerShard) {
    const next = row + rowsPerShard;
    const partEnd = next < endRow ? next : endRow;
    parts.push({ ...rest, startRow: row as ManifestRow, endRow: partEnd as ManifestRow });
  }
  return parts;
}
