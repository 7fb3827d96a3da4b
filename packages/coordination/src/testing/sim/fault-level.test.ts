// The levels are compared with each other and with other projects' by their numbers. A level that is milder than the one below
// it would hide what it is meant to show.

import { describe, expect, test } from "vitest";
import { FAULT_LEVELS, FAULTS, parseFaultLevel } from "./fault-level.ts";

describe("fault levels", () => {
  test("have the specification's numbers", () => {
    const numbers = FAULT_LEVELS.map((level) => {
      const { leaseExpiryPpm, pausePpm, pauseSteps, timeJumpPpm, timeJumpTicks } = FAULTS[level];
      return [leaseExpiryPpm, pausePpm, pauseSteps, timeJumpPpm, timeJumpTicks];
    });

    expect(numbers).toEqual([
      [0, 0, [0, 0], 0, [0, 0]],
      [100_000, 50_000, [1, 5], 100_000, [50, 200]],
      [200_000, 100_000, [1, 10], 200_000, [100, 500]],
    ]);
  });

  test("get rougher one by one, and the first is calm", () => {
    const roughness = FAULT_LEVELS.map((level) => {
      const { slowPpm, readFailedPpm, staleReadPpm, commitPpm, maxSkewTicks } = FAULTS[level];
      return [slowPpm, readFailedPpm, staleReadPpm, ...Object.values(commitPpm), maxSkewTicks];
    });

    expect(roughness[0]!.every((number) => number === 0)).toBe(true);
    expect(roughness[1]!.every((number, index) => number > 0 && number < roughness[2]![index]!)).toBe(true);
  });

  test.each([
    { text: "radioactive", level: "Radioactive" },
    { text: "SunnyDay", level: "SunnyDay" },
    { text: "mild", level: undefined },
  ])("$text is $level", ({ text, level }) => {
    expect(parseFaultLevel(text)).toBe(level);
  });
});
