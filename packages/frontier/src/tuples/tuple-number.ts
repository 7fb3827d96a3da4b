import { joinU64 } from "../keys/u64-bytes.ts";
import * as codes from "./tuple-code.ts";

/** Longest integer, in bytes behind its code. */
export const MAX_INTEGER_SIZE = 8;

const SIGN = 0x80;
const CANONICAL_NAN = 0x7ff8_0000_0000_0000n;

/** One value of 64 bits, big-endian, and its bytes. */
const word = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));
const wordBytes = /* @__PURE__ */ new Uint8Array(word.buffer);

/** Writes an integer up to ±(2^64 − 1), its code first, and returns where it ends. */
export function writeInteger(value: bigint, target: Uint8Array, offset: number): number {
  const isNegative = value < 0n;
  word.setBigUint64(0, isNegative ? -value : value);
  let first = 0;
  while (first < 8 && wordBytes[first] === 0) first++;
  const size = 8 - first;
  target[offset] = isNegative ? codes.ZERO - size : codes.ZERO + size;
  for (let index = 1; index <= size; index++) target[offset + index] = wordBytes[first + index - 1]!;
  if (isNegative) complement(target, offset + 1, offset + 1 + size);
  return offset + 1 + size;
}

// Most integers in keys are small, and a bigint is an object of 24 bytes, so these are shared.
const SMALL_COUNT = 1024;
const smallPositive = /* @__PURE__ */ Array.from({ length: SMALL_COUNT }, (_, magnitude) => BigInt(magnitude));
const smallNegative = /* @__PURE__ */ Array.from({ length: SMALL_COUNT }, (_, magnitude) => BigInt(-magnitude));

/** The integer whose magnitude is the bytes from `start` to `end`, each of them flipped by `flip`. */
export function readInteger(bytes: Uint8Array, start: number, end: number, flip: number, isNegative: boolean): bigint {
  let index = start;
  let high = 0;
  for (; index < end - 4; index++) high = (high << 8) | (bytes[index]! ^ flip);
  let low = 0;
  for (; index < end; index++) low = (low << 8) | (bytes[index]! ^ flip);
  if (index - start <= 2 && low < SMALL_COUNT) return isNegative ? smallNegative[low]! : smallPositive[low]!;
  return isNegative ? -joinU64(high, low) : joinU64(high, low);
}

/**
 * Writes a double so that byte order is numeric order: `-0` before `0`, NaN last.
 *
 * The IEEE 754 bits of positive numbers are already in order, so only the sign bit is set. Those of negative numbers
 * are in reverse order, so all bits are flipped.
 */
export function writeDouble(value: number, target: Uint8Array, offset: number): void {
  // NaN has many bit patterns, and a program cannot choose the one it holds. Write one of them, so that NaN has one
  // key.
  if (Number.isNaN(value)) word.setBigUint64(0, CANONICAL_NAN);
  else word.setFloat64(0, value);
  const isNegative = wordBytes[0]! >= SIGN;
  for (let index = 0; index < 8; index++) target[offset + index] = wordBytes[index]! ^ (isNegative ? 0xff : 0);
  if (!isNegative) target[offset]! ^= SIGN;
}

/** Reads the double at `offset`, each byte flipped by `flip`. Every bit pattern of NaN reads as NaN. */
export function readDouble(bytes: Uint8Array, offset: number, flip: number): number {
  for (let index = 0; index < 8; index++) wordBytes[index] = bytes[offset + index]! ^ flip;
  if (wordBytes[0]! >= SIGN) wordBytes[0]! ^= SIGN;
  else complement(wordBytes, 0, 8);
  return word.getFloat64(0);
}

/** Flips every bit of the bytes from `start` to `end`, which reverses their order. */
export function complement(bytes: Uint8Array, start: number, end: number): void {
  for (let index = start; index < end; index++) bytes[index]! ^= 0xff;
}
