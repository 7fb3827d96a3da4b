// A seed in a bug report is worth nothing once the numbers that it gives have changed. So they are written down here.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "./random.ts";

const draw = (random: Random, count: number) => Array.from({ length: count }, () => random.u32().toString(16));

describe("Random", () => {
  test("gives the numbers that it always gave", () => {
    expect(draw(new Random(42n), 4)).toMatchInlineSnapshot(`
      [
        "8a5b274",
        "c17a30df",
        "f6d6163a",
        "80e22ad6",
      ]
    `);
    expect(draw(new Random(42n, 3, 17), 4)).toMatchInlineSnapshot(`
      [
        "7ad5eb25",
        "6e188eb2",
        "55a26b8c",
        "6a287cb2",
      ]
    `);
    expect(draw(new Random(0xffff_ffff_ffff_ffffn, 1), 4)).toMatchInlineSnapshot(`
      [
        "785790b8",
        "1106d06c",
        "d46820b6",
        "b6ef90b7",
      ]
    `);
  });

  test("opens another stream for another path", () => {
    const streams = [
      new Random(1n),
      new Random(1n, 0),
      new Random(1n, 1),
      new Random(1n, 0, 1),
      new Random(1n, 1, 0),
      new Random(2n),
    ];

    expect(new Set(streams.map((stream) => draw(stream, 4).join())).size).toBe(streams.length);
  });

  test("stays within what it was asked for, and comes to both ends of it", () => {
    const random = new Random(5n);
    const drawn = Array.from({ length: 1000 }, () => random.between(3, 7));

    expect(new Set(drawn)).toEqual(new Set([3, 4, 5, 6, 7]));
    fc.assert(
      fc.property(fc.nat({ max: 1000 }), (count) => {
        expect(random.below(count + 1)).toBeLessThanOrEqual(count);
      }),
    );
  });

  test("draws nothing for what never happens", () => {
    const random = new Random(9n);
    const other = new Random(9n);

    expect(random.chance(0)).toBe(false);
    expect(draw(random, 2)).toEqual(draw(other, 2));
  });

  test("lets what happens three times in ten happen about that often", () => {
    const random = new Random(11n);
    const count = Array.from({ length: 10_000 }, () => random.chance(300_000)).filter(Boolean).length;

    expect(count).toBeGreaterThan(2800);
    expect(count).toBeLessThan(3200);
  });

  test.each([-1n, 1n << 64n])("refuses the seed %d", (seed) => {
    expect(() => new Random(seed)).toThrow("a seed must be a 64-bit integer");
  });
});
