// How long a run takes under skew decides whether workers are worth adding. This is the small form of `completion-small.bench.ts`:
// the real runtime, kernel and memory store in simulated time, the same on every machine.
import { describe, expect, test } from "vitest";
import { makeJobWorld, WORLDS } from "./job-world.fixture.ts";
import { runFleet } from "./simulated-fleet.fixture.ts";
import { scheduleMs, staticParts } from "./static-schedules.fixture.ts";

const JOB = { itemCount: 4000, workerCount: 8, meanMs: 200, seed: 1 };
const TIMES = { roundTripMs: 2, leaseMs: 10_000 };

describe.each(WORLDS)("8 workers, %s", (name) => {
  const world = makeJobWorld({ name, ...JOB });

  test("take at most 1.05 times the ideal, and no longer than any fixed sharding but for one item or 0.5 %", async () => {
    const fleet = await runFleet(world, { ...TIMES, shardCount: 64 });
    const fixed = [1, 8, 64].map((perWorker) => scheduleMs(world, staticParts(world, 8 * perWorker), TIMES));

    expect(fleet.itemsMissed).toBe(0);
    expect(fleet.completionMs / world.idealMs).toBeLessThanOrEqual(1.05);
    const best = Math.min(...fixed);
    expect(fleet.completionMs - best).toBeLessThanOrEqual(Math.max(...world.costs, 0.005 * best));
  });
});

test.each(["uniform", "workers join at half time"] as const)(
  "64 workers on 16 shards, %s, take at most 1.012 times the ideal: an item of a second is 0.4 % of it",
  async (name) => {
    const world = makeJobWorld({ name, itemCount: 15_616, workerCount: 64, meanMs: 1000, seed: 1 });
    const fleet = await runFleet(world, { ...TIMES, shardCount: 16 });
    expect(fleet.completionMs / world.idealMs).toBeLessThanOrEqual(1.012);
  },
);

// What is left to share here is less than a second of work, too little to wait for a report about it.
describe.each([
  { workerCount: 4, itemCount: 10_000, meanMs: 100 },
  { workerCount: 64, itemCount: 100_000, meanMs: 160 },
])("$workerCount workers on even shards", ({ workerCount, itemCount, meanMs }) => {
  test.each(["uniform", "a worker dies at 90 %"] as const)(
    "%s: take no longer than the best fixed sharding, but for one item",
    async (name) => {
      const world = makeJobWorld({ name, itemCount, workerCount, meanMs, seed: 1 });
      const times = { roundTripMs: 2, leaseMs: 15_000 };
      const fleet = await runFleet(world, { ...times, shardCount: Math.max(32, 8 * workerCount) });
      const fixed = [1, 8, 64].map((per) => scheduleMs(world, staticParts(world, per * workerCount), times));
      expect(fleet.itemsMissed).toBe(0);
      expect(fleet.completionMs - Math.min(...fixed)).toBeLessThanOrEqual(meanMs);
    },
  );
});

test("a shard that follows another costs its worker one claim: the other one is completed meanwhile", async () => {
  const world = makeJobWorld({ name: "uniform", itemCount: 80, workerCount: 1, meanMs: 10, seed: 1 });
  const [one, eight] = [
    await runFleet(world, { ...TIMES, shardCount: 1 }),
    await runFleet(world, { ...TIMES, shardCount: 8 }),
  ];
  // To list the candidates, to read one and to acquire it.
  expect(eight.completionMs - one.completionMs).toBe(7 * 3 * TIMES.roundTripMs);
  expect([one.splits, eight.splits]).toEqual([0, 0]);
});

describe("the simulation", () => {
  const world = makeJobWorld({ name: "one prefix", itemCount: 400, workerCount: 4, meanMs: 100, seed: 1 });

  test("gives the same result every time", async () => {
    const runs = [
      await runFleet(world, { ...TIMES, shardCount: 8 }),
      await runFleet(world, { ...TIMES, shardCount: 8 }),
    ];
    expect(runs[1]).toEqual(runs[0]);
  });

  test("shows a runtime that cannot split: one worker does everything", async () => {
    const { completionMs } = await runFleet(world, { ...TIMES, shardCount: 8, split: false });
    expect(completionMs / world.idealMs).toBeGreaterThan(3.9);
  });

  test("agrees with the model of fixed shards where the runtime does not split", async () => {
    const uneven = makeJobWorld({ name: "Zipf costs", itemCount: 2000, workerCount: 4, meanMs: 100, seed: 1 });
    const { completionMs } = await runFleet(uneven, { ...TIMES, shardCount: 32, split: false });
    const modelMs = scheduleMs(uneven, staticParts(uneven, 32), TIMES);
    expect(completionMs / modelMs).toBeGreaterThan(0.95);
    expect(completionMs / modelMs).toBeLessThan(1.05);
  });
});
