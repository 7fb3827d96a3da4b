import fc from "fast-check";
import { MAX_KEY_SIZE } from "./limits.ts";
import { U64_MAX } from "./ids/u64.ts";

/** The bytes of an ASCII text. */
export function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** So many bytes of one value. */
export function filled(size: number, value = 0x61): Uint8Array {
  return new Uint8Array(size).fill(value);
}

/** An array of holes: it has a length, and `map` and `forEach` pass it by. */
export function holes(length: number): never[] {
  return Object.assign([], { length });
}

/** A key that is one byte too long. */
export const OVERSIZED_KEY = filled(MAX_KEY_SIZE + 1);

/**
 * Keys over four byte values, short enough that neighbors, prefixes and equal keys are common. Over all 256 values
 * two random keys are almost never related, and then no rule about their order is put to the test.
 */
export function denseKey(size: { readonly min: number; readonly max: number }): fc.Arbitrary<Uint8Array> {
  return fc
    .array(fc.constantFrom(0x00, 0x61, 0xfe, 0xff), { minLength: size.min, maxLength: size.max })
    .map((values) => Uint8Array.from(values));
}

/** 64-bit integers, with both ends, bit 63 and the edge of the safe numbers well represented. */
export const u64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }),
  fc.bigInt({ min: 0n, max: 9n }),
  fc.constantFrom(U64_MAX, U64_MAX - 1n, 1n << 63n, (1n << 63n) - 1n, 1n << 53n, 1n << 32n),
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
  new DataView(new ArrayBuffer(2)),
  Object.create(Uint8Array.prototype),
];
