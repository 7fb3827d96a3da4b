import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assertBytes } from "@gossip/stdx";
import { assertKeyBuf, KeyBuf } from "../keys/key-buf.ts";
import { keySuccessorInto } from "./key-successor.ts";

// What `findMidpoint` returns if the mean of two keys is not between them.
const USE_SUCCESSOR = -1;
const NONE = -2;

// Bytes in a word: adding four at a time is five times as quick as one by one.
const WORD = 4;

// Where the second key is put beside the first, and where the owned form's result lies before it is copied. Nothing
// here awaits or calls back, so calls cannot interleave.
const addend = /* @__PURE__ */ new KeyBuf();
const spare = /* @__PURE__ */ new KeyBuf();

/**
 * Write into `out` a key strictly between `a` and `b`, about half-way.
 *
 * Both are read as big-endian numbers, the shorter one filled up with zeros, and
 * `out` gets the mean, rounded down, at the width of the longer one. Where the mean
 * is `a` itself or not below `b`, because they are neighbors at that width, it gets
 * the successor of `a`, if that is below `b`. The result keeps its zeros at the end,
 * and the same keys always give the same.
 *
 * Returns `false` and leaves `out` unchanged if `a` is not below `b`, one of
 * them is longer than `MAX_KEY_SIZE`, or no key that short lies between them.
 *
 * The seeds number five phases. Here 1 and 2, sum and half, are one pass, and 3 is
 * decided before it. Phase 4, the mean at one byte more, is left out: the mean of two
 * numbers needs no byte more than the numbers, so its extra byte is a zero in front, and
 * such a key lies between `a` and `b` only where the successor of `a` is that same key.
 *
 * The two keys are not an object with names, because this is called in loops and
 * would make one each time; swapped, they give `false`. Either may be a view of
 * `out`. Hot: allocates nothing.
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
  if (a.length < width || !areNeighbors(a, b, first)) return first;
  // The mean of neighbors is `a`. A full-length `a` carries into `first`, and what it gives is how `b` begins.
  return a.length < MAX_KEY_SIZE || b.length > first + 1 ? USE_SUCCESSOR : NONE;
}

/** Whether `b` is `a` plus one, where they first differ at `first` and `a` is not the shorter. */
function areNeighbors(a: Uint8Array, b: Uint8Array, first: number): boolean {
  return b[first]! - a[first]! === 1 && isFilledWith(a, first + 1, 0xff) && isFilledWith(b, first + 1, 0x00);
}

/** Put a key at the start of a buffer, and zeros behind it up to `width`. */
function load(key: Uint8Array, width: number, target: KeyBuf): void {
  const size = key.length;
  target.bytes.set(key);
  if (size < width) target.bytes.fill(0, size, width);
}

/**
 * Replace what `target` holds by the mean of that and `addend`, where they first differ at `first`.
 *
 * From the end to the front, as one adds on paper. A word of the half takes its top
 * bit from the sum's word in front of it, so each is written one step late. What the
 * numbers share in front, they share with their mean.
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

/** The bit that does not fit into the sum of two words and a carry, all signed: it does where both were high, or one and the sum is not. */
function carryOf(x: number, y: number, sum: number): number {
  return ((x & y) | ((x | y) & ~sum)) >>> 31;
}

/**
 * `halveSum` for the few bytes from `first` to `end`, with what is carried into them.
 *
 * Returns the last bit of their sum, which belongs to what follows; the carry itself
 * where there are no bytes.
 */
function halveBytes({ bytes }: KeyBuf, first: number, end: number, carry: number): number {
  if (end === first) return carry;
  let sum = bytes[end - 1]! + addend.bytes[end - 1]! + carry;
  const low = sum & 1;
  for (let index = end - 2; index >= first; index--) {
    // A sum has nine bits. The ninth is carried into the byte in front.
    const above = bytes[index]! + addend.bytes[index]! + (sum >> 8);
    bytes[index + 1] = ((above & 1) << 7) | ((sum & 0xff) >> 1);
    sum = above;
  }
  bytes[first] = sum >> 1;
  return low;
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
