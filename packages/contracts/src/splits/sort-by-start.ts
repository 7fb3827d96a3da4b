import { assert, compareBytes } from "@gossip/stdx";
import type { ShardSpecRef } from "../specs/shard-spec-ref.ts";

/** Bytes of a start that are compared first. */
const RANK_SIZE = 4;

/** One more than the largest position: rank and position together stay below 2^53, where numbers are exact. */
const POSITIONS = 2 ** 20;

interface Ranged {
  readonly spec: ShardSpecRef;
}

/**
 * The items by the start of their range. Equal starts stay in the order they had.
 *
 * The starts of one run usually share a long prefix, and a plain sort spends its time
 * comparing it. So the prefix is measured once. The four bytes after it and the item's
 * position make one number. Numbers sort without a callback, and only starts that
 * agree in those bytes are compared.
 */
export function sortByStart<T extends Ranged>(items: readonly T[]): T[] {
  assert(items.length <= POSITIONS, () => `at most ${POSITIONS} ranges can be sorted, got ${items.length}`);
  const prefixSize = sharedPrefixSize(items);
  const keys = new Float64Array(items.length);
  for (let position = 0; position < items.length; position++) {
    keys[position] = rankOf(items[position]!.spec.keyRangeStart, prefixSize) * POSITIONS + position;
  }
  keys.sort();

  const sorted: T[] = [];
  for (const key of keys) sorted.push(items[key % POSITIONS]!);
  settleTies(sorted, keys);
  return sorted;
}

/** Compare the starts of neighbors whose ranks are equal. */
function settleTies<T extends Ranged>(sorted: T[], keys: Float64Array): void {
  for (let from = 0, to = 1; from < sorted.length; from = to++) {
    const rank = Math.floor(keys[from]! / POSITIONS);
    while (to < sorted.length && Math.floor(keys[to]! / POSITIONS) === rank) to++;
    if (to - from === 1) continue;
    const tied = sorted.slice(from, to).sort((a, b) => compareBytes(a.spec.keyRangeStart, b.spec.keyRangeStart));
    for (const [index, item] of tied.entries()) sorted[from + index] = item;
  }
}

/** The length of the prefix that all starts share. */
function sharedPrefixSize(items: readonly Ranged[]): number {
  const first = items[0]?.spec.keyRangeStart;
  let size = first?.length ?? 0;
  for (const { spec } of items) {
    const start = spec.keyRangeStart;
    const limit = Math.min(size, start.length);
    let same = 0;
    while (same < limit && start[same] === first![same]) same++;
    size = same;
  }
  return size;
}

/** The bytes after the prefix as a number, padded with zeros: never out of order, but it may tie. */
function rankOf(start: Uint8Array, prefixSize: number): number {
  let rank = 0;
  for (let index = prefixSize; index < prefixSize + RANK_SIZE; index++) {
    rank = rank * 256 + (index < start.length ? start[index]! : 0);
  }
  return rank;
}
