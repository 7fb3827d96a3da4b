import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, KeyBuf } from "../keys/key-buf.ts";
import { keySuccessorInto } from "./key-successor.ts";

// What `findMidpoint` returns if the mean of two keys is not between them.
const USE_SUCCESSOR = -1;
const NONE = -2;

// Bytes in a word: adding four at a time is five times as fast as adding one at a time.
const WORD = 4;

// Scratch for the second key, and for the result of the owned form before it is copied. Nothing here awaits or calls
// back, so calls cannot interleave.
const addend = /* @__PURE__ */ new KeyBuf();
const spare = /* @__PURE__ */ new KeyBuf();

/**
 * Writes into `out` a key strictly between `a` and `b`, about halfway.
 *
 * Reads both as big-endian numbers, padded with zeros to the width of the longer one, and writes their mean at that
 * width, rounded down. If the two are adjacent at that width, the mean is `a` or not below `b`; then it writes the
 * successor of `a`, if that is below `b`. The result keeps its trailing zeros, and is the same for the same keys.
 *
 * Returns `false` and leaves `out` unchanged if `a` is not below `b`, one of them is longer than `MAX_KEY_SIZE`, or no
 * key that short lies between them.
 *
 * The seeds number five phases. Here 1 and 2, sum and half, are one pass, and 3 is decided before it. Phase 4, the mean
 * at one byte more, is left out: the mean of two numbers is no wider than the numbers, so its extra byte is a leading
 * zero, and such a key lies between `a` and `b` only if it is the successor of `a`.
 *
 * The keys are positional because this is called in loops, and an object for them would be an allocation. If they are
 * swapped, the result is `false`. Either may be a view of `out`. Hot: allocates nothing.
 */
export function byteMidpointInto(a: Uint8Array, b: Uint8Array, out: KeyBuf): boolean {
  assertBytes(a, "a");
  assertBytes(b, "b");
  assertKeyBuf(out);
  const found = findMidpoint(a, b);
  if (found === NONE) return false;
  if (found === USE_SUCCESSOR) return keySuccessorInto(a, out);

  const width = Math.max(a.length, b.length);
  // `b` first: it may be a view of `out`, where `a` goes.
  load(b, width, addend);
  load(a, width, out);
  halveSum(out, found, width);
  out.commit(width);
  return true;
}

/** A key strictly between `a` and `b`, about halfway, or `undefined` if `byteMidpointInto` returns `false`. */
export function byteMidpoint(a: Uint8Array, b: Uint8Array): Uint8Array | undefined {
  return byteMidpointInto(a, b, spare) ? spare.toOwned() : undefined;
}

/** The index at which the keys first differ, if their mean lies between them; else what to do instead. Writes nothing. */
function findMidpoint(a: Uint8Array, b: Uint8Array): number {
  const width = Math.max(a.length, b.length);
  if (width > MAX_KEY_SIZE) return NONE;
  const first = firstDifference(a, b);
  if (first === b.length) return NONE;

  if (first === a.length) {
    // `b` starts with `a`. If the rest is all zeros, both are the same number.
    if (!isFilledWith(b, first, 0x00)) return first;
    return b.length > first + 1 ? USE_SUCCESSOR : NONE;
  }
  if (a[first]! > b[first]!) return NONE;
  if (a.length < width || !areNeighbors(a, b, first)) return first;
  // The mean of adjacent keys is `a`. The successor of a full-length `a` carries into `first`, and is a prefix of `b`.
  return a.length < MAX_KEY_SIZE || b.length > first + 1 ? USE_SUCCESSOR : NONE;
}

/** Whether `b` is `a` plus one, if they first differ at `first` and `a` is not the shorter one. */
function areNeighbors(a: Uint8Array, b: Uint8Array, first: number): boolean {
  return b[first]! - a[first]! === 1 && isFilledWith(a, first + 1, 0xff) && isFilledWith(b, first + 1, 0x00);
}

/** Copies a key to the start of a buffer and pads it with zeros to `width`. */
function load(key: Uint8Array, width: number, target: KeyBuf): void {
  const size = key.length;
  target.bytes.set(key);
  if (size < width) target.bytes.fill(0, size, width);
}

/**
 * Replaces the number in `target` by its mean with `addend`. The two first differ at `first`.
 *
 * Works from the end to the front. A word of the result takes its top bit from the sum's word before it, so each is
 * written one step late. The bytes before `first` are those of the mean, too.
 */
function halveSum(target: KeyBuf, first: number, width: number): void {
  const { words } = target;
  let index = width - WORD;
  if (index < first) {
    halveBytes(target, first, index + WORD, 0);
    return;
  }
  let x = words.getInt32(index);
  let y = addend.words.getInt32(index);
  let sum = (x + y) | 0;
  let carry = carryOf(x, y, sum);
  for (index -= WORD; index >= first; index -= WORD) {
    x = words.getInt32(index);
    y = addend.words.getInt32(index);
    const above = (x + y + carry) | 0;
    carry = carryOf(x, y, above);
    words.setInt32(index + WORD, (above << 31) | (sum >>> 1));
    sum = above;
  }
  const top = halveBytes(target, first, index + WORD, carry);
  words.setInt32(index + WORD, (top << 31) | (sum >>> 1));
}

/** The carry out of the sum of two words and a carry: set if both top bits were set, or one was and the sum's is not. */
function carryOf(x: number, y: number, sum: number): number {
  return ((x & y) | ((x | y) & ~sum)) >>> 31;
}

/**
 * `halveSum` for the few bytes from `first` to `end`, with a carry in.
 *
 * Returns the last bit of their sum, which belongs to the following bytes; the carry itself if there are no bytes.
 */
function halveBytes({ bytes }: KeyBuf, first: number, end: number, carry: number): number {
  if (end === first) return carry;
  let sum = bytes[end - 1]! + addend.bytes[end - 1]! + carry;
  const low = sum & 1;
  for (let index = end - 2; index >= first; index--) {
    // A sum has nine bits. The ninth is carried into the previous byte.
    const above = bytes[index]! + addend.bytes[index]! + (sum >> 8);
    bytes[index + 1] = ((above & 1) << 7) | ((sum & 0xff) >> 1);
    sum = above;
  }
  bytes[first] = sum >> 1;
  return low;
}

/** The first index at which the keys differ; the length of the shorter one if it is a prefix of the other. */
function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  let index = 0;
  while (index < shared && a[index] === b[index]) index++;
  return index;
}

/** Whether every byte from `start` on is `value`. True if there are none. */
function isFilledWith(bytes: Uint8Array, start: number, value: number): boolean {
  for (let index = start; index < bytes.length; index++) {
    if (bytes[index] !== value) return false;
  }
  return true;
}
