// One cut into a shard of unknown size hands nearly everything to one worker, which must be asked again: a fleet of hundreds
// then fills up one worker at a time.

import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KnownKeys } from "./split-point.ts";
import { splitPoints } from "./split-points.ts";

const text = (key: string): Uint8Array => new TextEncoder().encode(key);

const denseKey = fc
  .array(fc.constantFrom(0x00, 0x31, 0x39, 0xff), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(bytes));

const known: fc.Arbitrary<KnownKeys> = fc
  .record({
    keys: fc.uniqueArray(denseKey, { selector: (key) => key.join(), minLength: 2, maxLength: 14 }),
    begun: fc.nat({ max: 14 }),
    hasEnd: fc.boolean(),
    isEndKnown: fc.boolean(),
    aheadMs: fc.constantFrom(0, 10_000),
  })
  .map(({ keys, begun, hasEnd, isEndKnown, aheadMs }) => {
    const [start, ...rest] = keys.toSorted(compareBytes);
    const end = hasEnd && rest.length > 1 ? rest.pop()! : new Uint8Array();
    const samples = rest.slice(0, begun);
    const range = { start: start!, end };
    return { range, startedKey: samples.at(-1), samples, ahead: rest.slice(begun), isEndKnown, aheadMs };
  });

describe("splitPoints", () => {
  test("are in order, inside the range and above everything that was started", () => {
    fc.assert(
      fc.property(known, fc.integer({ min: 1, max: 20 }), (keys, count) => {
        const { range, startedKey } = keys;
        let before = startedKey ?? range.start;
        for (const point of splitPoints(keys, count)) {
          expect(compareBytes(point, before)).toBeGreaterThan(0);
          if (range.end.length > 0) expect(compareBytes(point, range.end)).toBeLessThan(0);
          before = point;
        }
      }),
    );
  });

  test("share what was read evenly if nothing follows, to within an item", () => {
    fc.assert(
      fc.property(known, fc.integer({ min: 1, max: 6 }), (keys, count) => {
        const points = splitPoints({ ...keys, isEndKnown: true }, count);
        const { ahead } = keys;
        expect(points).toHaveLength(Math.min(count, ahead.length));
        const ranks = points.map((point) => ahead.findIndex((key) => compareBytes(key, point) === 0));
        const sizes = [...ranks, ahead.length].map((rank, index) => rank - (ranks[index - 1] ?? 0));
        if (ahead.length > count) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("lie at every scale if the end is unknown: within what was read, the next hundred, the next thousand", () => {
    const keyOf = (n: number): Uint8Array => text(`day/${String(n).padStart(6, "0")}`);
    const ahead = Array.from({ length: 256 }, (_, n) => keyOf(n + 1));
    const range = { start: text("a"), end: text("z") };
    const points = splitPoints(
      { range, startedKey: keyOf(0), samples: [keyOf(0)], ahead, isEndKnown: false, aheadMs: 60_000 },
      1,
    ).map((point) => new TextDecoder().decode(point));

    for (const point of ["day/000129", "day/0003", "day/001", "day/01", "day/1"]) expect(points).toContain(point);
  });
});
