import { U64_MAX } from "@gossip/contracts";
import { CODE_ZERO } from "./tuple-element.ts";
import { joinNegative, joinU64, writeU64 } from "../keys/u64-bytes.ts";

/** Longest integer, in bytes behind its code. */
export const MAX_INTEGER_SIZE = 8;

/** What `integerSize` returns for an integer beyond ±(2^64 − 1). */
export const INTEGER_TOO_LARGE = -1;

/** How many bytes an integer takes behind its code. */
export function integerSize(value: bigint): number {
  // As a number if that is exact: bigint arithmetic allocates at every step.
  const exact = Math.abs(Number(value));
  if (exact <= Number.MAX_SAFE_INTEGER) return safeSize(exact);
  const magnitude = value < 0n ? -value : value;
  if (magnitude > U64_MAX) return INTEGER_TOO_LARGE;
  return magnitude < 1n << 56n ? 7 : 8;
}

/** Write an integer of `size` bytes and its code to `offset`. */
export function writeInteger(value: bigint, size: number, target: Uint8Array, offset: number): void {
  const isNegative = value < 0n;
  const end = offset + size;
  if (size < 7) {
    let rest = Math.abs(Number(value));
    for (let index = end; index > offset; index--) {
      target[index] = rest;
      rest = Math.floor(rest / 256);
    }
  } else {
    // Seven bytes are written as eight with a leading zero, which the code then overwrites.
    writeU64(target, end - 7, isNegative ? -value : value);
  }
  target[offset] = isNegative ? CODE_ZERO - size : CODE_ZERO + size;
  if (isNegative) complement(target, offset + 1, end + 1);
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
  return isNegative ? joinNegative(high, low) : joinU64(high, low);
}

/** Flips every bit of the bytes from `start` to `end`, which reverses their order. */
export function complement(bytes: Uint8Array, start: number, end: number): void {
  for (let index = start; index < end; index++) bytes[index]! ^= 0xff;
}

function safeSize(magnitude: number): number {
  if (magnitude < 0x1_0000) return magnitude < 0x100 ? Math.min(magnitude, 1) : 2;
  if (magnitude < 0x1_0000_0000) return magnitude < 0x100_0000 ? 3 : 4;
  if (magnitude < 0x1_0000_0000_0000) return magnitude < 0x100_0000_0000 ? 5 : 6;
  return 7;
}
