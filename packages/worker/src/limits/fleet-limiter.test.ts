// A rate that is exceeded takes down the service that it was to spare. A rate that is not reached makes a night's work
// last two nights. Both must hold while processes join, leave and crash.

import { effort } from "@gossip/tools/effort";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fleet } from "./fleet.fixture.ts";

/** What the run may do in a second, and one item. */
const budgetOf = (itemsPerSecond: number): number => itemsPerSecond + 1;

describe("the rate of a run", () => {
  test.each([
    [1, 100],
    [4, 100],
    [16, 100],
    [1, 3],
    [4, 3],
    [16, 3],
    [4, 0.5],
    [4, 2000],
  ])(
    "of %d processes is close to %d items a second, and never above it by more than a budget",
    async (count, itemsPerSecond) => {
      const fleet = await Fleet.start({ itemsPerSecond });
      const seconds = Math.max(20, 60 / itemsPerSecond);
      for (let n = 0; n < count; n++) fleet.join();
      await fleet.run(2000 + 1000 * seconds);
      const perSecond = fleet.startedBetween(2000, 2000 + 1000 * seconds) / seconds;
      expect(perSecond / itemsPerSecond).toBeGreaterThanOrEqual(0.95);
      expect(perSecond / itemsPerSecond).toBeLessThanOrEqual(1.05);
      expect(fleet.excessOver(itemsPerSecond)).toBeLessThanOrEqual(budgetOf(itemsPerSecond));
      for (const each of fleet.processes) each.crash();
    },
  );

  test("is spread over time, not spent at once and waited for", async () => {
    const fleet = await Fleet.start({ itemsPerSecond: 100 });
    for (let n = 0; n < 4; n++) fleet.join();
    await fleet.run(10_000);
    const tenths = Array.from({ length: 80 }, (_, n) => fleet.startedBetween(2000 + 100 * n, 2100 + 100 * n));
    expect(Math.max(...tenths)).toBeLessThanOrEqual(25);
    expect(Math.min(...tenths)).toBeGreaterThanOrEqual(1);
    for (const each of fleet.processes) each.crash();
  });

  const change = fc.record({
    afterMs: fc.integer({ min: 0, max: 2000 }),
    kind: fc.constantFrom("join", "join", "leave", "crash"),
    which: fc.nat(100),
    itemMs: fc.constantFrom(1, 30, 400),
  });

  test("holds while processes join, leave and crash", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(4, 50, 300),
        fc.array(change, { minLength: 1, maxLength: 20 }),
        fc.integer(),
        async (itemsPerSecond, changes, seed) => {
          const fleet = await Fleet.start({ itemsPerSecond, seed });
          // One that stays and could do everything.
          fleet.join({ capacity: 1000 });
          let lostMs = 2000;
          for (const { afterMs, kind, which, itemMs } of changes) {
            await fleet.run(afterMs);
            const others = fleet.processes.slice(1);
            const chosen = others[which % Math.max(1, others.length)];
            if (kind === "join" && others.length < 15) fleet.join({ itemMs, capacity: 8 });
            if (kind === "crash" || kind === "leave") {
              if (chosen === undefined) continue;
              fleet.processes.splice(fleet.processes.indexOf(chosen), 1);
              if (kind === "leave") await fleet.world.time.runUntil(chosen.leave());
              else chosen.crash();
              // What a crashed process had is lost: at most what it could do between two renewals.
              if (kind === "crash") lostMs += 1000;
            }
          }
          const ms = fleet.world.time.nowMs();
          expect(fleet.excessOver(itemsPerSecond)).toBeLessThanOrEqual(budgetOf(itemsPerSecond));
          expect(fleet.starts.length).toBeGreaterThanOrEqual(0.95 * ((itemsPerSecond * (ms - lostMs)) / 1000) - 1);
          for (const each of fleet.processes) each.crash();
        },
      ),
      { numRuns: effort({ usual: 12, exploring: 500 }) },
    );
  });

  test("holds although the clocks of the processes differ by seconds", async () => {
    const fleet = await Fleet.start({ itemsPerSecond: 100 });
    for (const skewMs of [0, -2000, 1500, 300]) fleet.join({ skewMs });
    await fleet.run(30_000);
    const perSecond = fleet.startedBetween(5000, 30_000) / 25;
    expect(Math.abs(perSecond - 100)).toBeLessThanOrEqual(5);
    // The first look at a clock that is ahead may add a budget, once.
    expect(fleet.excessOver(100)).toBeLessThanOrEqual(2 * budgetOf(100));
    for (const each of fleet.processes) each.crash();
  });

  test("of a process that crashed returns to the others", async () => {
    const fleet = await Fleet.start({ itemsPerSecond: 100 });
    const [first] = [fleet.join(), fleet.join()];
    await fleet.run(10_000);
    first.crash();
    await fleet.run(20_000);
    expect(fleet.startedBetween(16_000, 30_000) / 14).toBeGreaterThanOrEqual(95);
    for (const each of fleet.processes) each.crash();
  });

  test("goes to the processes that can use it", async () => {
    const fleet = await Fleet.start({ itemsPerSecond: 100 });
    // One item a second, and one that could do hundreds.
    const [slow, quick] = [fleet.join({ capacity: 1, itemMs: 1000 }), fleet.join()];
    await fleet.run(22_000);
    expect(slow.started).toBeGreaterThanOrEqual(19);
    expect(quick.started).toBeGreaterThanOrEqual(0.95 * 2000 - slow.started);
    for (const each of fleet.processes) each.crash();
  });

  test("changes while the run goes on, and can be lifted", async () => {
    const fleet = await Fleet.start({ itemsPerSecond: 10 });
    fleet.join({ capacity: 2, itemMs: 10 });
    await fleet.run(10_000);
    await fleet.set({ itemsPerSecond: 100 });
    await fleet.run(10_000);
    expect(fleet.startedBetween(12_000, 20_000) / 8).toBeGreaterThanOrEqual(95);
    await fleet.set({ itemsPerSecond: null });
    await fleet.run(5000);
    // Two at a time, ten milliseconds each.
    expect(fleet.startedBetween(22_000, 25_000) / 3).toBeGreaterThanOrEqual(195);
    await fleet.set({ itemsPerSecond: 1 });
    await fleet.run(12_000);
    expect(fleet.startedBetween(27_000, 37_000)).toBeLessThanOrEqual(12);
    for (const each of fleet.processes) each.crash();
  });
});

describe("the concurrency of a run", () => {
  test.each([1, 4, 16])("of %d processes is never exceeded, and used", async (count) => {
    const fleet = await Fleet.start({ concurrency: 20 });
    for (let n = 0; n < count; n++) fleet.join({ itemMs: 50, capacity: 30 });
    await fleet.run(30_000);
    expect(fleet.maxInFlight).toBe(20);
    // 20 at a time, 20 of each in a second.
    expect(fleet.startedBetween(5000, 30_000) / 25).toBeGreaterThanOrEqual(0.95 * 400);
    for (const each of fleet.processes) each.crash();
  });

  test("moves to processes that join, and returns from those that crash", async () => {
    const fleet = await Fleet.start({ concurrency: 6 });
    const first = fleet.join({ itemMs: 100 });
    await fleet.run(5000);
    const second = fleet.join({ itemMs: 100 });
    await fleet.run(5000);
    expect([first.inFlight, second.inFlight]).toEqual([3, 3]);
    first.crash();
    await fleet.run(8000);
    expect(second.inFlight).toBe(6);
    expect(fleet.maxInFlight).toBe(6);
    second.crash();
  });

  test("smaller than the number of processes goes around, so that all of them get on", async () => {
    const fleet = await Fleet.start({ concurrency: 2 });
    for (let n = 0; n < 5; n++) fleet.join({ itemMs: 100 });
    await fleet.run(60_000);
    expect(fleet.maxInFlight).toBe(2);
    for (const each of fleet.processes) expect(each.started).toBeGreaterThan(50);
    for (const each of fleet.processes) each.crash();
  });
});

test("a run that a service asked to wait starts nothing in that time, in any process", async () => {
  const fleet = await Fleet.start({});
  const [first] = [fleet.join({ capacity: 1 }), fleet.join({ capacity: 1 })];
  await fleet.run(2500);
  first.limiter.hold(10_000);
  await fleet.run(20_000);
  // The other process reads the settings once a second.
  expect(fleet.startedBetween(3600, 12_400)).toBe(0);
  expect(fleet.startedBetween(13_600, 20_000)).toBeGreaterThan(1000);
  for (const each of fleet.processes) each.crash();
});
