import { splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import { splitPoint, type KnownKeys } from "./split-point.ts";

/** A shard whose end is unknown is cut at several scales even for a single worker: one cut may find nothing. */
const MIN_UNKNOWN_PARTS = 12;

/**
 * Up to `count` keys that share the remaining work between the holder and `count` others, in order.
 *
 * If everything that remains has been read, the parts have equally many items. Otherwise the holder does not know where the data
 * ends, so the cuts are made at several scales: within the items read, where the keys read so far suggest half of the
 * rest, and then one step further at each earlier byte of the key: the next hundred, the next thousand, the next
 * folder. One of these parts has about as much as all before it together. A part without data costs its claimer a
 * claim, and shows how far the data reaches.
 */
export function splitPoints(known: KnownKeys, count: number): readonly Uint8Array[] {
  const { range, startedKey, ahead, isEndKnown } = known;
  const start = startedKey ?? range.start;
  if (isEndKnown) return splitPointsFromSamples({ start, end: range.end }, ahead, count + 1);
  const half = splitPoint(known);
  if (half === undefined) return [];
  const low = ahead.at(-1) ?? start;
  const middle = splitPointsFromSamples({ start, end: range.end }, ahead, 2);
  const parts = Math.max(count, MIN_UNKNOWN_PARTS);
  const points = [...middle, half, ...coarserSteps(known, low, parts - 1)];
  const distinct = points.toSorted(compareBytes).filter((point, index, all) => isDistinct(point, all[index - 1]));
  return thin(distinct, parts);
}

/**
 * Keys above `low` that are one or more steps further at one byte of the key, beginning with the first byte that
 * differs among the keys seen. Finer steps would be smaller than what was read.
 */
function coarserSteps({ range: { end }, samples, ahead }: KnownKeys, low: Uint8Array, count: number): Uint8Array[] {
  const shared = sharedPrefixSize(low, end);
  const highest = highestByte([...samples, ...ahead, low], shared);
  const first = samples[0] ?? ahead[0] ?? low;
  const levels: Uint8Array[][] = [];
  for (let at = Math.min(low.length - 1, sharedPrefixSize(first, low)); at >= shared && levels.length < count; at--) {
    const steps: Uint8Array[] = [];
    for (let byte = low[at]! + 1; byte <= Math.max(highest, low[at]! + 1) && byte <= 0xff; byte++) {
      const step = low.slice(0, at + 1);
      step[at] = byte;
      if (end.length === 0 || compareBytes(step, end) < 0) steps.push(step);
    }
    if (steps.length > 0) levels.push(steps);
  }
  const perLevel = Math.max(1, Math.floor(count / Math.max(1, levels.length)));
  return levels.flatMap((steps) => thin(steps, perLevel));
}

/** `count` of the entries, evenly spread, the first among them. */
function thin<T>(entries: readonly T[], count: number): T[] {
  if (entries.length <= count) return [...entries];
  return Array.from({ length: count }, (_, index) => entries[Math.floor((index * entries.length) / count)]!);
}

function isDistinct(point: Uint8Array, before: Uint8Array | undefined): boolean {
  return before === undefined || compareBytes(before, point) < 0;
}

function sharedPrefixSize(a: Uint8Array, b: Uint8Array): number {
  let size = 0;
  while (size < a.length && size < b.length && a[size] === b[size]) size++;
  return size;
}

function highestByte(keys: readonly Uint8Array[], from: number): number {
  let highest = 0;
  for (const key of keys) for (let index = from; index < key.length; index++) highest = Math.max(highest, key[index]!);
  return highest;
}
