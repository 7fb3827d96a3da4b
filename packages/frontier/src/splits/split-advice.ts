import { MAX_INITIAL_SHARDS, MAX_KEY_SIZE, type RangeInput } from "@gossip/contracts";
import { assert, assertBytes, assertCount, compareBytes } from "@gossip/stdx";
import { byteMidpoint } from "../arithmetic/byte-midpoint.ts";
import { keySuccessor } from "../arithmetic/successors.ts";

/** The precision of even split points beyond the longer bound, in bytes. */
const EXTRA_WIDTH = 8;

/**
 * A key strictly inside a range, about halfway, or `undefined` if there is none. *Addition.*
 *
 * A range without an end is cut halfway to `ff`, repeated once more than its start is long, or right after its start if
 * no key lies in between.
 */
export function rangeMidpoint(range: RangeInput): Uint8Array | undefined {
  const { start, end } = readRange(range);
  if (end.length > 0) return byteMidpoint(start, end);
  return byteMidpoint(start, highestBeyond(start)) ?? keySuccessor(start);
}

/**
 * Up to `partCount - 1` keys that cut a range into equal parts of key space. *Addition.*
 *
 * Equal to within one unit, at a width of eight bytes beyond the longer bound, or of the longest key there is. The keys
 * increase strictly and lie strictly inside; there are fewer if the range is too narrow, and none if it is empty or a
 * bound is too large. Zeros at their ends are left off. A range without an end is cut as if it ended where
 * `rangeMidpoint` takes it to.
 *
 * This divides space, not data: where keys crowd together, `splitPointsFromSamples` does better.
 */
export function evenSplitPoints(range: RangeInput, partCount: number): Uint8Array[] {
  const { start, end: givenEnd } = readRange(range);
  assertCount(partCount, "partCount", { min: 1, max: MAX_INITIAL_SHARDS });
  const end = givenEnd.length > 0 ? givenEnd : highestBeyond(start);
  const longer = Math.max(start.length, end.length);
  if (longer > MAX_KEY_SIZE || compareBytes(start, end) >= 0) return [];

  const width = Math.min(longer + EXTRA_WIDTH, MAX_KEY_SIZE);
  const low = toInteger(start, width);
  const span = toInteger(end, width) - low;
  const points: Uint8Array[] = [];
  let previous = 0n;
  for (let part = 1; part < partCount; part++) {
    const offset = (BigInt(part) * span) / BigInt(partCount);
    // Nothing between two parts of a narrow range: the point would repeat the one before, or the start.
    if (offset === previous) continue;
    points.push(toKey(low + offset, width));
    previous = offset;
  }
  return points;
}

/**
 * Up to `partCount - 1` of the keys seen, that cut a range into parts with equal shares of them. *Addition.*
 *
 * Takes the keys at every `1/partCount` of the sorted distinct samples inside the range, except its start. Samples may
 * come in any order and repeat; those outside the range and those too large for a bound are ignored.
 */
export function splitPointsFromSamples(
  range: RangeInput,
  samples: readonly Uint8Array[],
  partCount: number,
): Uint8Array[] {
  const { start, end } = readRange(range);
  assert(Array.isArray(samples), "samples must be an array of keys");
  for (const sample of samples) assertBytes(sample, "sample");
  assertCount(partCount, "partCount", { min: 1, max: MAX_INITIAL_SHARDS });

  const distinct = samples
    .filter((sample) => isUsable(sample, start, end))
    .sort(compareBytes)
    .filter(differsFromPrevious);
  const points: Uint8Array[] = [];
  let previousRank = -1;
  for (let part = 1; part < partCount; part++) {
    const rank = Math.floor((part * distinct.length) / partCount);
    const sample = distinct[rank];
    if (sample === undefined || rank === previousRank) continue;
    previousRank = rank;
    if (compareBytes(sample, start) > 0) points.push(new Uint8Array(sample));
  }
  return points;
}

function readRange(range: RangeInput): RangeInput {
  assert(typeof range === "object" && range !== null, "range must be an object with start and end");
  const { start, end } = range;
  assertBytes(start, "range start");
  assertBytes(end, "range end");
  return { start, end };
}

/** The assumed end of an open range: a key above `start`, near the end of all keys of its length. */
function highestBeyond(start: Uint8Array): Uint8Array {
  return new Uint8Array(Math.min(start.length + 1, MAX_KEY_SIZE)).fill(0xff);
}

function isUsable(sample: Uint8Array, start: Uint8Array, end: Uint8Array): boolean {
  if (sample.length > MAX_KEY_SIZE || compareBytes(sample, start) < 0) return false;
  return end.length === 0 || compareBytes(sample, end) < 0;
}

function differsFromPrevious(sample: Uint8Array, index: number, sorted: readonly Uint8Array[]): boolean {
  return index === 0 || compareBytes(sample, sorted[index - 1]!) !== 0;
}

/** A key as a big-endian integer, filled up with zeros to `width` bytes. */
function toInteger(key: Uint8Array, width: number): bigint {
  let digits = "0x0";
  for (const byte of key) digits += byte.toString(16).padStart(2, "0");
  return BigInt(digits) << BigInt(8 * (width - key.length));
}

/** The key of such an integer, without the zeros at its end. */
function toKey(value: bigint, width: number): Uint8Array {
  const digits = value.toString(16).padStart(2 * width, "0");
  let size = width;
  while (size > 0 && digits.startsWith("00", 2 * size - 2)) size--;
  return Uint8Array.from({ length: size }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}
