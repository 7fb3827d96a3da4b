import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, KeyBuf } from "../keys/key-buf.ts";
import { keySuccessorInto } from "./successors.ts";

// What `findMidpoint` returns if the mean of two keys is not between them.
const USE_SUCCESSOR = -1;
const NONE = -2;

// Bytes in a word: adding four at a time is several times as fast as adding one at a time.
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

/** Copies a key to the start of a buffer, and pads it with zeros to whole words. */
function load(key: Uint8Array, width: number, target: KeyBuf): void {
  const size = key.length;
  target.bytes.set(key);
  target.bytes.fill(0, size, (width + WORD - 1) & -WORD);
}

/**
 * Replaces the number in `target` by its mean with `addend`, from the end to the front. The two first differ at `first`,
 * and the bytes before that are those of the mean, too.
 */
function halveSum({ words }: KeyBuf, first: number, width: number): void {
  let index = (width - 1) & -WORD;
  let sum = words.getUint32(index) + addend.words.getUint32(index);
  for (index -= WORD; index > first - WORD; index -= WORD) {
    const above = words.getUint32(index) + addend.words.getUint32(index) + carryOf(sum);
    // The last bit of a sum is the top bit of the half after it.
    words.setInt32(index + WORD, (above << 31) | (sum >>> 1));
    sum = above;
  }
  words.setInt32(index + WORD, (carryOf(sum) << 31) | (sum >>> 1));
}

/** The 33rd bit of the sum of two words. */
function carryOf(sum: number): number {
  return sum > 0xffff_ffff ? 1 : 0;
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
