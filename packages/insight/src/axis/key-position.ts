import type { RangeInput } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";

/** Bytes of a key that are read as a number: as many as a float holds exactly. */
const DIGITS = 6;

/**
 * The position of a key in a range: 0 at its start, 1 at its end, and between them by the keys read as numbers. Keys
 * outside the range are at 0 or 1. An empty end is no bound.
 */
export function keyPosition({ start, end }: RangeInput, key: Uint8Array): number {
  if (compareBytes(key, start) <= 0) return 0;
  if (end.length > 0 && compareBytes(key, end) >= 0) return 1;
  const skip = sharedPrefixSize(start, end);
  const low = numberAfter(start, skip);
  const high = end.length === 0 ? 1 : numberAfter(end, skip);
  // Bounds that differ only after the digits have no inside to speak of.
  return high > low ? (numberAfter(key, skip) - low) / (high - low) : 0;
}

/** The key after its first `skip` bytes, as a number from 0 to 1. */
function numberAfter(key: Uint8Array, skip: number): number {
  let value = 0;
  for (let digit = DIGITS - 1; digit >= 0; digit--) value = (value + (key[skip + digit] ?? 0)) / 256;
  return value;
}

function sharedPrefixSize(a: Uint8Array, b: Uint8Array): number {
  let size = 0;
  while (size < a.length && size < b.length && a[size] === b[size]) size++;
  return size;
}

/** A key that lies at `share` of a range, from 0 at its start to 1 at its end. At 0 it is the start itself. */
export function keyBetween({ start, end }: RangeInput, share: number, isText: boolean): Uint8Array {
  if (share <= 0) return start;
  const skip = sharedPrefixSize(start, end);
  const low = numberAfter(start, skip);
  const high = end.length === 0 ? 1 : numberAfter(end, skip);
  let value = low + Math.min(share, 1) * (high - low);
  const key = [...start.subarray(0, skip)];
  for (let digit = 0; digit < DIGITS && value > 0; digit++) {
    value *= 256;
    const byte = Math.min(255, Math.floor(value));
    value -= byte;
    if (isText && key.length > skip && (byte < 0x20 || byte > 0x7e)) break;
    key.push(byte);
  }
  const between = Uint8Array.from(key);
  return compareBytes(between, start) < 0 ? start : between;
}
