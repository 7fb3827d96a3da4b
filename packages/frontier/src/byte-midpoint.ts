import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, type KeyBuf } from "./key-buf.ts";
import { keySuccessor, keySuccessorInto } from "./key-successor.ts";

// What `findMidpoint` answers where the mean of two keys is no key between them.
const USE_SUCCESSOR = -1;
const NONE = -2;

/**
 * Write into `out` a key strictly between `a` and `b`, about half-way.
 *
 * Both are read as big-endian numbers, the shorter one filled up with zeros, and
 * `out` gets the mean, rounded down, at the width of the longer one. Where the mean
 * is `a` itself or not below `b`, because they are neighbours at that width, it gets
 * the successor of `a`, if that is below `b`. The result keeps its zeros at the end,
 * and the same keys always give the same.
 *
 * Answers `false`, and leaves `out` as it was, where `a` is not below `b`, one of
 * them is longer than `MAX_KEY_SIZE`, or no key that short lies between them.
 *
 * The seeds number five phases. Here 1 and 2, sum and half, are one pass, and 3 is
 * decided before it. Phase 4, the mean at one byte more, is left out: the mean of two
 * numbers needs no byte more than the numbers, so its extra byte is a zero in front, and
 * such a key lies between `a` and `b` only where the successor of `a` is that same key.
 *
 * The two keys are not an object with names, because this is called in loops and
 * would make one each time; swapped, they give `false`. Either may be a view of
 * `out`. Hot: allocates nothing (unless a view of `out` starts elsewhere than it
 * does: that one is copied first).
 */
export function byteMidpointInto(a: Uint8Array, b: Uint8Array, out: KeyBuf): boolean {
  assertBytes(a, "a");
  assertBytes(b, "b");
  assertKeyBuf(out);
  const found = findMidpoint(a, b);
  if (found === NONE) return false;
  if (found === USE_SUCCESSOR) return keySuccessorInto(a, out);

  writeMean(apartFrom(out, a), apartFrom(out, b), found, out.bytes);
  out.commit(Math.max(a.length, b.length));
  return true;
}

/** A key strictly between `a` and `b`, about half-way, or `undefined` where `byteMidpointInto` answers `false`. */
export function byteMidpoint(a: Uint8Array, b: Uint8Array): Uint8Array | undefined {
  assertBytes(a, "a");
  assertBytes(b, "b");
  const found = findMidpoint(a, b);
  if (found === NONE) return undefined;
  if (found === USE_SUCCESSOR) return keySuccessor(a);

  const mean = new Uint8Array(Math.max(a.length, b.length));
  writeMean(a, b, found, mean);
  return mean;
}

/** Where the keys first differ, if their mean lies between them; else what to do instead. Writes nothing. */
function findMidpoint(a: Uint8Array, b: Uint8Array): number {
  const width = Math.max(a.length, b.length);
  if (width > MAX_KEY_SIZE) return NONE;
  const first = firstDifference(a, b);
  if (first === b.length) return NONE;

  if (first === a.length) {
    // `b` is `a` and something behind it. Where that is all zeros, both are the same number.
    if (!isFilledWith(b, first, 0x00)) return first;
    return b.length > first + 1 ? USE_SUCCESSOR : NONE;
  }
  if (a[first]! > b[first]!) return NONE;
  if (a.length < width || !areNeighbours(a, b, first)) return first;
  // The mean of neighbours is `a`. A full-length `a` carries into `first`, and what it gives is how `b` begins.
  return a.length < MAX_KEY_SIZE || b.length > first + 1 ? USE_SUCCESSOR : NONE;
}

/** Whether `b` is `a` plus one, where they first differ at `first` and `a` is not the shorter. */
function areNeighbours(a: Uint8Array, b: Uint8Array, first: number): boolean {
  return b[first]! - a[first]! === 1 && isFilledWith(a, first + 1, 0xff) && isFilledWith(b, first + 1, 0x00);
}

/**
 * Write the mean of two keys that first differ at `first`.
 *
 * From the last byte to the first, as one adds on paper. A byte of the half takes
 * its top bit from the sum's byte above it, so each is written one step late: that
 * is also why the target may be either key. What the keys share in front, they share
 * with their mean.
 */
function writeMean(a: Uint8Array, b: Uint8Array, first: number, target: Uint8Array): void {
  const longer = a.length > b.length ? a : b;
  const shared = Math.min(a.length, b.length);
  let index = longer.length - 1;
  // A sum has nine bits. The ninth is carried into the byte above.
  let sum = index < shared ? a[index]! + b[index]! : longer[index]!;
  index--;

  // Only the longer has bytes here: there is nothing to add. (A loop of its own, because reading past the end of
  // the shorter one is slow.)
  for (const top = Math.max(first, shared); index >= top; index--) {
    const above = longer[index]!;
    target[index + 1] = ((above & 1) << 7) | (sum >> 1);
    sum = above;
  }
  for (; index >= first; index--) {
    const above = a[index]! + b[index]! + (sum >> 8);
    target[index + 1] = ((above & 1) << 7) | ((sum & 0xff) >> 1);
    sum = above;
  }
  target[first] = sum >> 1;
  for (index = 0; index < first; index++) target[index] = b[index]!;
}

/** The first index at which the keys differ; the length of the shorter one where it is how the other begins. */
function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  let index = 0;
  while (index < shared && a[index] === b[index]) index++;
  return index;
}

/** Whether every byte from `start` on is `value`; so where there are none. */
function isFilledWith(bytes: Uint8Array, start: number, value: number): boolean {
  for (let index = start; index < bytes.length; index++) {
    if (bytes[index] !== value) return false;
  }
  return true;
}

/** `key`, or a copy where it is a view of `out` that is not in step with it: writing would overtake reading. */
function apartFrom(out: KeyBuf, key: Uint8Array): Uint8Array {
  return out.isViewedBy(key) && key.byteOffset !== out.bytes.byteOffset ? new Uint8Array(key) : key;
}
