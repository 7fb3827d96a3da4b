import { compareBytes } from "@gossip/stdx";
import type { Random } from "./random.ts";

/** A half-open range of keys. Neither bound is empty. */
export interface Bounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

const MAX_TAIL = 3;

/**
 * Some key strictly between two others, or `undefined` if it finds none. It tries the first byte in which they differ,
 * and keys that extend the lower one. That finds nearly every such key.
 */
export function keyBetween(random: Random, low: Uint8Array, high: Uint8Array): Uint8Array | undefined {
  let common = 0;
  while (common < low.length && low[common] === high[common]) common++;
  const below = low[common] ?? -1;
  const above = high[common]!;
  if (above - below > 1) {
    const byte = random.between(below + 1, above - 1);
    return concat(high.subarray(0, common), Uint8Array.of(byte), random.bytes(random.below(MAX_TAIL)));
  }
  if (below < 0) return undefined;
  return concat(low, Uint8Array.of(random.between(1, 255)), random.bytes(random.below(MAX_TAIL)));
}

/** Up to `count` different keys strictly between two others, in order. */
export function keysBetween(random: Random, { start, end }: Bounds, count: number): Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (let tries = 0; tries < count; tries++) {
    const key = keyBetween(random, start, end);
    if (key !== undefined && !keys.some((other) => compareBytes(other, key) === 0)) keys.push(key);
  }
  return keys.toSorted(compareBytes);
}

/** Adjacent ranges below one prefix. */
export function tileRanges(random: Random, prefix: Uint8Array, count: number): Bounds[] {
  const firsts = new Set<number>();
  while (firsts.size <= count) firsts.add(random.below(256));
  const bounds = [...firsts].toSorted((a, b) => a - b).map((byte) => concat(prefix, Uint8Array.of(byte)));
  return bounds.slice(1).map((end, index) => ({ start: bounds[index]!, end }));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
