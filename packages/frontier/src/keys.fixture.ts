import { U64_MAX } from "@gossip/contracts";
import { equalBytes } from "@gossip/stdx";
import fc from "fast-check";
import { expect } from "vitest";

export function bytes(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

/** Bytes from hex digits; spaces are for the reader. */
export function hex(digits: string): Uint8Array {
  const pairs = digits.replaceAll(" ", "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

export function toHex(value: Uint8Array): string {
  return Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** So many bytes of one value. */
export function filled(size: number, value = 0x61): Uint8Array {
  return new Uint8Array(size).fill(value);
}

/** Some bytes and, behind them, more. */
export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** `toEqual` for keys, which compares long ones element by element and takes milliseconds for each. */
export function expectBytes(actual: Uint8Array | undefined, expected: Uint8Array | undefined): void {
  const isSame = actual === undefined || expected === undefined ? actual === expected : equalBytes(actual, expected);
  if (!isSame) expect(actual && toHex(actual)).toBe(expected && toHex(expected));
}

/**
 * Keys over a few byte values, short enough that neighbors, prefixes, carries and equal keys are common. Over all 256
 * values two random keys are almost never related, and then no rule about their order is put to the test.
 */
export function denseKey({
  min = 0,
  max = 4,
}: { readonly min?: number; readonly max?: number } = {}): fc.Arbitrary<Uint8Array> {
  return fc
    .array(fc.constantFrom(0x00, 0x01, 0x61, 0xfe, 0xff), { minLength: min, maxLength: max })
    .map((values) => Uint8Array.from(values));
}

/** Keys of the greatest size, or a byte or two less, that differ only near their ends. */
export const fullKey: fc.Arbitrary<Uint8Array> = fc
  .record({
    size: fc.constantFrom(4094, 4095, 4096),
    head: denseKey({ max: 2 }),
    tail: denseKey({ max: 3 }),
    fill: fc.constantFrom(0x00, 0x61, 0xff),
  })
  .map(({ size, head, tail, fill }) => {
    const key = filled(size, fill);
    key.set(head);
    key.set(tail, size - tail.length);
    return key;
  });

/** Any key: mostly short and dense, sometimes as long as one may be. */
export const anyKey: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 9, arbitrary: denseKey() },
  { weight: 1, arbitrary: fullKey },
);

/** 64-bit integers, with both ends, bit 63 and the edge of the safe numbers well represented. */
export const u64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.bigInt({ min: 0n, max: 9n }),
  fc.constantFrom(U64_MAX, U64_MAX - 1n, 1n << 63n, (1n << 63n) - 1n, 1n << 53n, (1n << 32n) - 1n, 1n << 32n),
);

/** What a caller without a type checker may pass for anything. */
export const NOT_BYTES: readonly unknown[] = [
  undefined,
  null,
  0,
  "61",
  {},
  [0x61],
  new Uint16Array(2),
  new ArrayBuffer(2),
];
