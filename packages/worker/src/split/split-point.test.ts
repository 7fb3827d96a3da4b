// A cut at or below what was begun does work twice; one outside the range is refused; one beyond all data hands over nothing.

import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitPoint, type KnownKeys } from "./split-point.ts";

const text = (key: string): Uint8Array => new TextEncoder().encode(key);

// Few byte values and short keys: adjacent keys, prefixes and carries are then common.
const denseKey = fc
  .array(fc.constantFrom(0x00, 0x31, 0x39, 0xff), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(bytes));

const known: fc.Arbitrary<KnownKeys> = fc
  .record({
    keys: fc.uniqueArray(denseKey, { selector: (key) => key.join(), minLength: 2, maxLength: 14 }),
    begun: fc.nat({ max: 14 }),
    hasEnd: fc.boolean(),
    isEndKnown: fc.boolean(),
    aheadMs: fc.constantFrom(0, 100, 10_000),
    stride: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ keys, begun, hasEnd, isEndKnown, aheadMs, stride }) => {
    const [start, ...rest] = keys.toSorted(compareBytes);
    const end = hasEnd && rest.length > 1 ? rest.pop()! : new Uint8Array();
    const done = rest.slice(0, begun);
    return {
      range: { start: start!, end },
      startedKey: done.at(-1),
      samples: done.filter((_, index) => index % stride === 0),
      ahead: rest.slice(begun),
      isEndKnown,
      aheadMs,
    };
  });

describe("splitPoint", () => {
  test("lies inside the range and above everything that was begun", () => {
    fc.assert(
      fc.property(known, (keys) => {
        const point = splitPoint(keys);
        fc.pre(point !== undefined);
        const { range, startedKey } = keys;
        expect(compareBytes(point, startedKey ?? range.start)).toBeGreaterThan(0);
        if (range.end.length > 0) expect(compareBytes(point, range.end)).toBeLessThan(0);
      }),
    );
  });

  test.each([
    ["all that is left is", { isEndKnown: true }],
    ["enough to do for a while is", { isEndKnown: false, aheadMs: 10_000 }],
  ])("halves what is known where %s, to within an item", (_what, change) => {
    fc.assert(
      fc.property(known, (keys) => {
        const point = splitPoint({ ...keys, ...change });
        const { ahead } = keys;
        expect(point).toEqual(ahead.length === 0 ? undefined : ahead[Math.floor(ahead.length / 2)]);
      }),
    );
  });

  test("leaves what was read to the holder where more may come", () => {
    fc.assert(
      fc.property(known, (keys) => {
        const point = splitPoint({ ...keys, isEndKnown: false, aheadMs: 100 });
        const last = keys.ahead.at(-1);
        fc.pre(point !== undefined && last !== undefined);
        // Right below the end of the range there may be nothing above it. Then the middle of what was read is all there is to give.
        expect(compareBytes(point, last) > 0 || keys.ahead.some((key) => compareBytes(key, point) === 0)).toBe(true);
      }),
    );
  });

  const hot = { range: { start: text("a"), end: text("z") }, ahead: [], isEndKnown: false, aheadMs: 0 };

  test.each([
    { name: "digits that count up", seen: ["hot/00000", "hot/03339", "hot/10001"], below: "hot/:", above: "hot/3" },
    { name: "names of letters", seen: ["hot/ab", "hot/cz", "hot/dk"], below: "hot/{", above: "hot/k" },
  ])("stays where data like what was seen can be: $name", ({ seen, below, above }) => {
    const samples = seen.map(text);
    const point = splitPoint({ ...hot, samples, startedKey: samples.at(-1) })!;
    expect(compareBytes(point, text(below))).toBeLessThan(0);
    expect(compareBytes(point, text(above))).toBeGreaterThan(0);
  });

  test("takes nothing for granted of a number that counts up in bytes", () => {
    const samples = [Uint8Array.of(0x61, 0, 0), Uint8Array.of(0x61, 0, 40)];
    expect(splitPoint({ ...hot, samples, startedKey: samples.at(-1) })).toEqual(Uint8Array.of(0x61, 0, 0x94));
  });
});
