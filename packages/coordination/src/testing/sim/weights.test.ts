// A table whose weights do not add up to 100 leaves rolls without a meaning, or operations that are never rolled.

import { describe, expect, test } from "vitest";
import { LIVENESS_WEIGHTS, MISCHIEF_WEIGHTS, rolled, SAFETY_WEIGHTS, WARM_UP_WEIGHTS } from "./weights.ts";

describe.each([
  ["safety", SAFETY_WEIGHTS],
  ["warm-up", WARM_UP_WEIGHTS],
  ["liveness", LIVENESS_WEIGHTS],
  ["mischief", MISCHIEF_WEIGHTS],
])("the %s weights", (_name, weights) => {
  test("give every roll of 0 to 99 a meaning, each operation as often as it says", () => {
    const counts = new Map<string, number>();
    for (let roll = 0; roll < 100; roll++)
      counts.set(rolled(weights, roll), (counts.get(rolled(weights, roll)) ?? 0) + 1);

    expect(Object.fromEntries(counts)).toEqual(weights);
    expect(() => rolled(weights, 100)).toThrow(RangeError);
  });
});

test("the safety weights are the specification's", () => {
  expect(Object.values(SAFETY_WEIGHTS)).toEqual([13, 10, 13, 8, 3, 2, 4, 4, 2, 2, 3, 3, 8, 9, 8, 2, 6]);
});
