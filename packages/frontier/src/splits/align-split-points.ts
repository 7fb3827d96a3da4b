import { assert, assertBytes } from "@gossip/stdx";
import { encodeKey } from "../keys/key-encoding.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { assertHint, type ManifestHint, type ShardHint } from "../hints/shard-hint.ts";
import { readU64 } from "../keys/u64-bytes.ts";

/**
 * Split points that a shard with this hint can be cut at. *Addition.*
 *
 * A range or a prefix can be cut anywhere. A manifest can be cut only at its rows: each point becomes the first row at
 * or above it, which cuts between the same rows. Points that would leave an empty part, and duplicates, are left out.
 * The order is kept.
 */
export function alignSplitPoints(hint: ShardHint, points: readonly Uint8Array[]): Uint8Array[] {
  assertHint(hint);
  assert(Array.isArray(points), "points must be an array of keys");
  for (const point of points) assertBytes(point, "split point");
  if (hint.kind !== "Manifest") return [...points];

  const aligned: Uint8Array[] = [];
  let previous: bigint | undefined;
  for (const point of points) {
    const row = rowAtOrAbove(hint, point);
    if (row === undefined || row === previous) continue;
    previous = row;
    aligned.push(encodeKey(new ManifestRowKey({ manifestId: hint.manifestId, row })));
  }
  return aligned;
}

/** The first row at or above `point` that leaves rows of the hint on either side. */
function rowAtOrAbove({ manifestId, startRow, endRow }: ManifestHint, point: Uint8Array): bigint | undefined {
  const width = ManifestRowKey.ENCODED_LEN;
  const padded = new Uint8Array(width);
  padded.set(point.subarray(0, width));
  if (readU64(padded, 0) !== manifestId) return undefined;

  const isBetweenRows = point.subarray(width).length > 0;
  const row = readU64(padded, 8) + (isBetweenRows ? 1n : 0n);
  return row > startRow && row < endRow ? row : undefined;
}
