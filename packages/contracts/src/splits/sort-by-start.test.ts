// Overlaps are found between neighbors. Two ranges that a wrong order keeps apart may overlap unseen.
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ascii, denseKey } from "../arbitraries.fixture.ts";
import { sortByStart } from "./sort-by-start.ts";

const item = (keyRangeStart: Uint8Array, name: number) => ({
  name,
  spec: { keyRangeStart, keyRangeEnd: ascii(""), metadata: ascii("") },
});

describe("sortByStart", () => {
  // Shared prefixes of any length, and tails around the four bytes that decide first: zeros and ends look alike there.
  const starts = fc
    .tuple(denseKey({ min: 0, max: 6 }), fc.array(denseKey({ min: 0, max: 7 }), { maxLength: 30 }))
    .map(([prefix, tails]) => tails.map((tail) => Uint8Array.of(...prefix, ...tail)));

  test("is a stable sort by compareBytes", () => {
    fc.assert(
      fc.property(starts, (keys) => {
        const items = keys.map(item);
        const expected = [...items].sort((a, b) => compareBytes(a.spec.keyRangeStart, b.spec.keyRangeStart));
        expect(sortByStart(items).map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
      }),
      { numRuns: 1000 },
    );
  });

  test("leaves the list as it was", () => {
    const items = [item(ascii("b"), 0), item(ascii("a"), 1)];
    sortByStart(items);
    expect(items.map(({ name }) => name)).toEqual([0, 1]);
  });

  test("keeps equal starts in their order, however many", () => {
    const items = Array.from({ length: 500 }, (_, name) => item(ascii("same"), name));
    expect(sortByStart(items)).toEqual(items);
  });
});
