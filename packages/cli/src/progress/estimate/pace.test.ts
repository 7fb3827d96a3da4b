// A time of arrival that is wrong by a factor is worse than none: people plan by it.
import { describe, expect, test } from "vitest";
import { Pace } from "./pace.ts";

/** Adds a sample every half second. `rate` is items per second at a time. */
function paceAfter(seconds: number, rate: (second: number) => number): Pace {
  const pace = new Pace();
  let items = 0;
  for (let half = 0; half <= 2 * seconds; half++) {
    pace.add({ atMs: half * 500, items: Math.floor(items) });
    items += rate(half / 2) / 2;
    pace.timeFor(1);
  }
  return pace;
}

describe("Pace", () => {
  test("has the rate of late, and predicts from a steady one", () => {
    const pace = paceAfter(60, () => 100);
    expect(pace.perSecond).toBeCloseTo(100);
    expect(pace.timeFor(4000)).toBeCloseTo(40_000);
  });

  test("predicts nothing in the first seconds", () => {
    expect(new Pace().perSecond).toBe(undefined);
    expect(new Pace().timeFor(10)).toBe(undefined);
    expect(paceAfter(2, () => 1000).timeFor(10)).toBe(undefined);
    expect(paceAfter(4, () => 1000).timeFor(10)).not.toBe(undefined);
  });

  test("predicts nothing from a few items, and reaches back until it has enough", () => {
    expect(paceAfter(100, () => 0.2).timeFor(10)).toBe(undefined);
    expect(paceAfter(400, () => 0.2).timeFor(10)! / 50_000).toBeCloseTo(1, 0);
  });

  test("predicts nothing while the rate changes, and again when it is steady", () => {
    const rate = (second: number): number => (second < 60 ? 1000 : 200);
    expect(paceAfter(60, rate).timeFor(1000)).toBeCloseTo(1000);
    expect(paceAfter(70, rate).timeFor(1000)).toBe(undefined);
    expect(paceAfter(150, rate).timeFor(1000)! / 5000).toBeCloseTo(1, 1);
  });

  test("predicts nothing when nothing moves, and the rate falls", () => {
    const pace = paceAfter(60, (second) => (second < 30 ? 100 : 0));
    expect(pace.timeFor(10)).toBe(undefined);
    expect(pace.perSecond).toBe(0);
  });

  test("keeps a bounded number of samples and still predicts", () => {
    const pace = paceAfter(20_000, () => 3);
    expect(pace.timeFor(300)! / 100_000).toBeCloseTo(1, 1);
  });
});
