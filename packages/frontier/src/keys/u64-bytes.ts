import { HALVES as halves, HIGH, LOW, WHOLE as unsigned } from "@gossip/stdx/internal";

/** Two halves of 32 bits, signed or not, as one unsigned integer. */
export function joinU64(high: number, low: number): bigint {
  halves[HIGH] = high;
  halves[LOW] = low;
  return unsigned[0]!;
}

/** The four bytes at `offset` as an unsigned big-endian integer. */
export function readU32(bytes: Uint8Array, offset: number): number {
  return readI32(bytes, offset) >>> 0;
}

/** The eight bytes at `offset` as an unsigned big-endian integer. */
export function readU64(bytes: Uint8Array, offset: number): bigint {
  return joinU64(readI32(bytes, offset), readI32(bytes, offset + 4));
}

/** Order the eight bytes at two offsets as unsigned integers, without making a bigint. */
export function compareU64(bytes: Uint8Array, offset: number, otherOffset: number): number {
  const high = readU32(bytes, offset) - readU32(bytes, otherOffset);
  return high === 0 ? readU32(bytes, offset + 4) - readU32(bytes, otherOffset + 4) : high;
}

function readI32(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!;
}
