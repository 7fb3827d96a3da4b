// A look at the store may be many seconds old on a busy machine. Figures that stand still meanwhile are wrong.
import { expect, test } from "vitest";
import { ProgressEstimator } from "./progress-estimator.ts";

const left = (done: number) => ({ done, remaining: 1000 - done, parked: 0, deviation: 0 });

test("the work of this process moves the figures between looks, and the next look moves nothing back", () => {
  const estimator = new ProgressEstimator();
  expect(estimator.addOwn({ atMs: 0, itemsSince: 5, left: left(0) })).toEqual({
    fraction: undefined,
    perSecond: undefined,
    remainingMs: undefined,
  });
  for (let second = 0; second <= 10; second++)
    estimator.add({ atMs: second * 1000, items: second * 20, unstored: 10, left: left(second * 20) });
  // 20 items a second, of which 210 are done: no look for ten seconds.
  const own = Array.from({ length: 10 }, (_, index) =>
    estimator.addOwn({ atMs: (11 + index) * 1000, itemsSince: 20 * (index + 1), left: left(200) }),
  );
  expect(own.map(({ fraction }) => fraction)).toEqual(own.map((_, index) => expect.closeTo(0.21 + 0.02 * (index + 1))));
  expect(own.at(-1)).toMatchObject({ perSecond: expect.closeTo(20), remainingMs: expect.closeTo(29_500) });
  const looked = estimator.add({ atMs: 20_500, items: 400, unstored: 20, left: left(400) });
  expect(looked.fraction).toBeCloseTo(0.42);
  // Silence goes on from there, not from the last look.
  expect(estimator.addOwn({ atMs: 21_000, itemsSince: 10, left: left(400) }).fraction).toBeCloseTo(0.43);
  expect(estimator.addSilence(22_000)).toMatchObject({ fraction: expect.closeTo(0.43), remainingMs: undefined });
});

test("a count that is complete between two looks is used at once", () => {
  const estimator = new ProgressEstimator();
  expect(estimator.add({ atMs: 0, items: 0, unstored: 0, left: undefined }).fraction).toBe(undefined);
  expect(estimator.addOwn({ atMs: 1000, itemsSince: 100, left: undefined }).fraction).toBe(undefined);
  expect(estimator.addOwn({ atMs: 2000, itemsSince: 200, left: left(0) }).fraction).toBeCloseTo(0.2);
});
