// The line that reproduces a failure is copied by hand from a log into a shell. If it loses a step on the way, what it shows
// is another run.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSteps, parseSteps, reproduceLine } from "./shrink.ts";

describe("steps as text", () => {
  test.each([
    { steps: [], text: "none" },
    { steps: [5], text: "5" },
    { steps: [0, 1, 2, 3, 7], text: "0-3,7" },
    { steps: [1, 3, 4], text: "1,3-4" },
  ])("$text", ({ steps, text }) => {
    expect(formatSteps(steps)).toBe(text);
    expect(parseSteps(text)).toEqual(steps);
  });

  test("any steps are read back as they were", () => {
    const ascending = fc.uniqueArray(fc.nat({ max: 300 })).map((steps) => steps.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(ascending, (steps) => {
        expect(parseSteps(formatSteps(steps))).toEqual(steps);
      }),
    );
  });

  test.each(["", "1,", "a", "1-", "-1", "1--2", "99999999", "5-3"])("%j is not steps", (text) => {
    expect(parseSteps(text)).toBeUndefined();
  });
});

test("the line names all that is not as usual", () => {
  const options = { seed: 7n, level: "Radioactive", safetySteps: 10, size: { workers: 3, shardsPerRun: 2 } } as const;

  expect(reproduceLine(options, [1, 2, 5])).toBe(
    "pnpm sim --seed 7 --fault radioactive --safety 10 --workers 3 --shards 2 --steps 1-2,5",
  );
});
