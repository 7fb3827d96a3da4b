// The simulator's splits and cursors stand on keys that lie where they are said to. A key on a bound would make every split
// invalid, and the simulator would see nothing but refusals.

import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyBetween, keysBetween, tileRanges } from "./key-space.ts";
import { Random } from "./random.ts";

const denseKey = fc
  .array(fc.constantFrom(0x00, 0x01, 0x61, 0xfe, 0xff), { minLength: 1, maxLength: 4 })
  .map((values) => Uint8Array.from(values));
const seed = fc.nat({ max: 1000 }).map((raw) => new Random(BigInt(raw)));

describe("keyBetween", () => {
  test("lies strictly between, where it finds a key at all", () => {
    fc.assert(
      fc.property(denseKey, denseKey, seed, (a, b, random) => {
        fc.pre(compareBytes(a, b) < 0);
        const key = keyBetween(random, a, b);
        fc.pre(key !== undefined);
        expect(compareBytes(a, key)).toBeLessThan(0);
        expect(compareBytes(key, b)).toBeLessThan(0);
      }),
    );
  });

  test("finds one between keys that differ by more than zeros", () => {
    expect(keyBetween(new Random(1n), Uint8Array.of(0x61), Uint8Array.of(0x62))).toBeDefined();
    expect(keyBetween(new Random(1n), Uint8Array.of(0x61), Uint8Array.of(0x61, 0x02))).toBeDefined();
  });

  test("finds none where there is none", () => {
    expect(keyBetween(new Random(1n), Uint8Array.of(0x61), Uint8Array.of(0x61, 0x00))).toBeUndefined();
  });
});

test("keysBetween gives different keys in order", () => {
  const keys = keysBetween(new Random(3n), { start: Uint8Array.of(0x10), end: Uint8Array.of(0x14) }, 20);

  expect(keys.length).toBeGreaterThan(5);
  expect(keys.slice(1).every((key, index) => compareBytes(keys[index]!, key) < 0)).toBe(true);
});

test("tileRanges gives as many ranges as it is asked for, each beginning where the one before ends", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), seed, denseKey, (count, random, prefix) => {
      const ranges = tileRanges(random, prefix, count);
      expect(ranges).toHaveLength(count);
      expect(ranges.every(({ start, end }) => compareBytes(start, end) < 0)).toBe(true);
      expect(ranges.slice(1).every(({ start }, index) => start === ranges[index]!.end)).toBe(true);
    }),
  );
});
