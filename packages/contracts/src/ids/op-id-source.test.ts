// An id that is given twice makes a new operation look like one that was done: the second is refused, or answered
// without being done.

import fc from "fast-check";
import { expect, test } from "vitest";
import { opIdSource } from "./op-id-source.ts";

/** Gives the numbers of a list, as many as are asked for, and then counts on from above them all. */
function drawFrom(numbers: readonly bigint[]): {
  readonly fill: (out: BigUint64Array) => void;
  readonly sizes: number[];
} {
  const sizes: number[] = [];
  let given = 0;
  const fill = (out: BigUint64Array): void => {
    sizes.push(out.length);
    for (let index = 0; index < out.length; index++, given++)
      out[index] = numbers[given] ?? (1n << 32n) + BigInt(given);
  };
  return { fill, sizes };
}

test("gives what was drawn, in its order, each once and never 0", () => {
  const drawn = fc.array(fc.bigInt({ min: 0n, max: 3n }), { maxLength: 3000, size: "max" });
  fc.assert(
    fc.property(drawn, fc.nat({ max: 3000 }), (numbers, count) => {
      const { fill } = drawFrom(numbers);
      const next = opIdSource(fill);
      const expected = [
        ...numbers,
        ...Array.from({ length: count }, (_, index) => (1n << 32n) + BigInt(numbers.length + index)),
      ];
      expect(Array.from({ length: count }, next)).toEqual(expected.filter((number) => number !== 0n).slice(0, count));
    }),
    { numRuns: 30 },
  );
});

test("draws only when one is wanted and none is left", () => {
  const { fill, sizes } = drawFrom([]);
  const next = opIdSource(fill);
  expect(sizes).toEqual([]);
  for (let count = 0; count < 5000; count++) next();
  expect(sizes.length).toBe(Math.ceil(5000 / sizes[0]!));
  expect(sizes.length).toBeGreaterThan(1);
});

test("draws again where all that it drew was 0", () => {
  const { fill, sizes } = drawFrom(Array.from({ length: 3000 }, () => 0n));
  expect(opIdSource(fill)()).toBe((1n << 32n) + 3000n);
  expect(sizes.length).toBeGreaterThan(1);
});

test("gives nothing twice where drawing failed in between", () => {
  const { fill } = drawFrom([]);
  let isBroken = false;
  const next = opIdSource((out) => {
    if (isBroken) throw new RangeError("no entropy");
    fill(out);
  });
  const ids = new Set<bigint>([next()]);
  isBroken = true;
  let failed = 0;
  for (let count = 1; count < 2000; count++) {
    try {
      ids.add(next());
    } catch {
      failed++;
      expect(ids.size).toBe(count - failed + 1);
    }
  }
  expect(failed).toBeGreaterThan(0);
  isBroken = false;
  const before = ids.size;
  for (let count = 0; count < 2000; count++) ids.add(next());
  expect(ids.size).toBe(before + 2000);
});
