import { assertBytes } from "@gossip/stdx";
import { assertIterable } from "./assert-iterable.ts";
import type { ShardSummary } from "./shard-summary.ts";

/** An estimate of how far a run has come. */
export interface ProgressEstimate {
  /** From 0 to 1, of the key space that the run covers. */
  readonly fraction: number;
  /** The shards that the estimate covers. Split shards are left out: their children count. */
  readonly shardCount: number;
}

/** Number of key bytes to read after the common prefix: as many as a float represents exactly. */
const DIGITS = 6;

/**
 * Estimates how far a run has come from the positions of its cursors between their bounds.
 *
 * Keys are read as numbers, so the estimate describes key space, not data: it is right only if items are spread evenly.
 * Every shard counts by the width of its range; ranges too narrow to have a width count alike.
 */
export function estimateProgress(shards: Iterable<ShardSummary>): ProgressEstimate {
  assertIterable(shards, "list of shard summaries");
  const leaves = [...shards].filter((shard) => shard.status !== "Split");
  for (const { keyRangeStart, keyRangeEnd } of leaves) {
    assertBytes(keyRangeStart, "range start of a summary");
    assertBytes(keyRangeEnd, "range end of a summary");
  }
  if (leaves.length === 0) return { fraction: 0, shardCount: 0 };

  const project = projectionOver(leaves);
  let width = 0;
  let done = 0;
  let doneShards = 0;
  for (const leaf of leaves) {
    const shardWidth = project.end(leaf.keyRangeEnd) - project.key(leaf.keyRangeStart);
    const fraction = fractionOf(leaf);
    width += shardWidth;
    done += shardWidth * fraction;
    doneShards += fraction;
  }
  const fraction = width > 0 ? done / width : doneShards / leaves.length;
  return { fraction: clamp(fraction), shardCount: leaves.length };
}

/** How far one shard has come within its own bounds. */
function fractionOf(shard: ShardSummary): number {
  if (shard.status === "Done") return 1;
  if (shard.lastKey === undefined) return 0;
  const project = projectionOver([shard]);
  const start = project.key(shard.keyRangeStart);
  const width = project.end(shard.keyRangeEnd) - start;
  return width > 0 ? clamp((project.key(shard.lastKey) - start) / width) : 0;
}

interface Projection {
  key(key: Uint8Array): number;
  /** Like `key`, but a missing upper bound is above every key. */
  end(key: Uint8Array): number;
}

/** Reads keys as fractions, starting at the first byte in which the outermost bounds differ. */
function projectionOver(shards: readonly ShardSummary[]): Projection {
  const skip = sharedPrefixSize(shards.flatMap((shard) => [shard.keyRangeStart, shard.keyRangeEnd]));
  const key = (bytes: Uint8Array) => {
    let value = 0;
    for (let digit = DIGITS - 1; digit >= 0; digit--) value = (value + (bytes[skip + digit] ?? 0)) / 256;
    return value;
  };
  return { key, end: (bytes) => (bytes.length === 0 ? 1 : key(bytes)) };
}

function sharedPrefixSize(keys: readonly Uint8Array[]): number {
  const first = keys[0]!;
  let size = first.length;
  for (const key of keys) {
    let index = 0;
    while (index < size && key[index] === first[index]) index++;
    size = index;
  }
  return size;
}

function clamp(fraction: number): number {
  return Math.min(1, Math.max(0, fraction));
}
