// Policies that wait too long lose leases and leave workers idle; those that do not wait at all ask a store in a loop.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeCheckpointPolicy, mustRenew, upkeepDueMs } from "./checkpoint-policy.ts";
import { ClaimBackoff } from "./claim-backoff.ts";
import { DEFAULT_ITEM_RETRY, makeRetrySchedule, pauseAfter } from "./retry-schedule.ts";
import { DEFAULT_SPLIT, expectedHandoverMs, makeSplitPolicy, partCount, tailCuts } from "./split-policy.ts";

const chance = fc.double({ min: 0, max: 1, noNaN: true });

describe("retries", () => {
  const policy = { maxAttempts: 6, baseMs: 100, factor: 2, maxMs: 1000, jitter: 0.5 };

  test("pauses double, spread by half either way, and never pass the longest", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), chance, (attempt, random) => {
        const pause = pauseAfter(policy, { attempt, random, leastMs: 0 })!;
        const doubled = 100 * 2 ** (attempt - 1);
        expect(pause).toBeGreaterThanOrEqual(Math.min(1000, doubled / 2));
        expect(pause).toBeLessThanOrEqual(Math.min(1000, doubled * 1.5));
      }),
    );
  });

  test("end with the last attempt", () => {
    expect(pauseAfter(policy, { attempt: 5, random: 0.5, leastMs: 0 })).toBeDefined();
    expect(pauseAfter(policy, { attempt: 6, random: 0.5, leastMs: 0 })).toBeUndefined();
    expect(pauseAfter(policy, { attempt: 6, random: 0.5, leastMs: 1 })).toBeUndefined();
    expect(pauseAfter({ ...policy, maxAttempts: 1_000_000 }, { attempt: 999_999, random: 1, leastMs: 0 })).toBe(1000);
  });

  test("never come sooner than was asked for, nor later than the longest, and spread all the same", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        chance,
        fc.double({ min: 0, max: 2000, noNaN: true }),
        (attempt, random, leastMs) => {
          const pause = pauseAfter(policy, { attempt, random, leastMs })!;
          expect(pause).toBeGreaterThanOrEqual(Math.min(1000, leastMs));
          expect(pause).toBeLessThanOrEqual(1000);
          expect(pause).toBe(
            Math.min(1000, leastMs + pauseAfter({ ...policy, maxMs: Infinity }, { attempt, random, leastMs: 0 })!),
          );
        },
      ),
    );
    expect(pauseAfter(policy, { attempt: 1, random: 0, leastMs: Number.MAX_VALUE })).toBe(1000);
  });

  test("what is left out is the default, and nonsense is refused", () => {
    const make = (input: object) => makeRetrySchedule(input, { what: "retry", defaults: DEFAULT_ITEM_RETRY });
    expect(make({})).toEqual(DEFAULT_ITEM_RETRY);
    expect(make({ baseMs: 60_000 })).toMatchObject({ baseMs: 60_000, maxMs: 60_000 });
    expect(() => make({ maxAttempts: 0 })).toThrow("max attempts of retry must be a whole number from 1");
    expect(() => make({ baseMs: 100, maxMs: 50 })).toThrow("longest pause of retry must be a whole number from 100");
  });
});

describe("checkpoints", () => {
  test("a renewal is due after a third of the lease, a checkpoint after its time where there is progress, whichever is first", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 5 }),
        fc.nat({ max: 1e6 }),
        fc.nat({ max: 1e6 }),
        fc.integer({ min: 3, max: 1e6 }),
        fc.integer({ min: 1, max: 1e6 }),
        (items, checkpointedMs, renewedMs, leaseMs, ms) => {
          const due = upkeepDueMs(makeCheckpointPolicy({ ms }, leaseMs), { items, checkpointedMs, renewedMs });
          expect(due).toBeLessThanOrEqual(renewedMs + leaseMs / 3);
          if (items > 0) expect(due).toBeLessThanOrEqual(checkpointedMs + ms);
          expect([renewedMs + leaseMs / 3, ...(items > 0 ? [checkpointedMs + ms] : [])]).toContain(due);
        },
      ),
    );
  });

  test("one renews exactly when a third of the lease will have elapsed by the end of a write as long as the last", () => {
    const policy = makeCheckpointPolicy({}, 3000);
    expect(mustRenew(policy, { renewedMs: 500, nowMs: 1499, writeMs: 0 })).toBe(false);
    expect(mustRenew(policy, { renewedMs: 500, nowMs: 1500, writeMs: 0 })).toBe(true);
    expect(mustRenew(policy, { renewedMs: 500, nowMs: 1489, writeMs: 10 })).toBe(false);
    expect(mustRenew(policy, { renewedMs: 500, nowMs: 1490, writeMs: 10 })).toBe(true);
    expect(mustRenew(policy, { renewedMs: 500, nowMs: 500, writeMs: 1000 })).toBe(true);
  });

  test("nonsense is refused", () => {
    expect(() => makeCheckpointPolicy({ items: 0 }, 1)).toThrow("items between checkpoints must be");
    expect(() => makeCheckpointPolicy({ ms: 0.5 }, 1)).toThrow("milliseconds between checkpoints must be");
  });
});

describe("splits", () => {
  const outlook = {
    nowMs: 10_000,
    heldSinceMs: 0,
    workingSinceMs: 0,
    lastSplitMs: undefined,
    missCount: 0,
    itemCount: 100,
    earlierMs: undefined,
    aheadCount: 10,
    isEndKnown: true,
  };

  test.each([
    { name: "half of what is left, at the pace so far", change: {}, handoverMs: 500 },
    {
      name: "the one item that is left, where its holder is busy with another",
      change: { aheadCount: 1 },
      handoverMs: 100,
    },
    { name: "nothing where nothing is left", change: { aheadCount: 0 }, handoverMs: 0 },
    { name: "nothing where it would take no time", change: { itemCount: 100_000, aheadCount: 100 }, handoverMs: 0 },
    {
      name: "as long as it was held, for each item of a shard that has finished none",
      change: { itemCount: 0, aheadCount: 2 },
      handoverMs: 10_000,
    },
    {
      name: "what earlier items took, for each item of a shard that was only just claimed",
      change: { itemCount: 0, heldSinceMs: 10_000, earlierMs: 400, aheadCount: 6 },
      handoverMs: 1200,
    },
    {
      name: "what its own items took, as soon as it has finished some",
      change: { itemCount: 99, earlierMs: 0, aheadCount: 2 },
      handoverMs: 100,
    },
    { name: "any amount where the end is not in sight", change: { isEndKnown: false }, handoverMs: Infinity },
    {
      name: "nothing of a shard that was only just claimed",
      change: { isEndKnown: false, heldSinceMs: 9_990, workingSinceMs: 9_990 },
      handoverMs: 0,
    },
    {
      name: "half of what was read, of a shard that was only just claimed and has slow items",
      change: { isEndKnown: false, heldSinceMs: 9_980, workingSinceMs: 9_990, itemCount: 0, aheadCount: 256 },
      handoverMs: 1280,
    },
    {
      name: "nothing of a shard that was read for a moment and has started no item",
      change: { isEndKnown: false, heldSinceMs: 9_980, workingSinceMs: undefined, itemCount: 0, aheadCount: 256 },
      handoverMs: 0,
    },
    { name: "nothing right after another split", change: { lastSplitMs: 9_990 }, handoverMs: 0 },
    {
      name: "nothing for a while where there was no place to cut",
      change: { lastSplitMs: 9_300, missCount: 4 },
      handoverMs: 0,
    },
    { name: "and again after that while", change: { lastSplitMs: 9_200, missCount: 4 }, handoverMs: 500 },
  ])("hand over $name", ({ change, handoverMs }) => {
    expect(expectedHandoverMs(DEFAULT_SPLIT, { ...outlook, ...change })).toBe(handoverMs);
  });

  test.each([
    { name: "as many parts as are wanted, of a long rest", rest: { aheadCount: 9, itemMs: 100 }, parts: 2 },
    { name: "every item of a short rest", rest: { aheadCount: 8, itemMs: 100 }, parts: 8 },
    { name: "items of a short rest together if they are short", rest: { aheadCount: 40, itemMs: 10 }, parts: 8 },
    { name: "a rest that is smaller than a part", rest: { aheadCount: 4, itemMs: 10 }, parts: 1 },
    { name: "a rest of items that take no time", rest: { aheadCount: 1000, itemMs: 0 }, parts: 1 },
  ])("hand over $name", ({ rest, parts }) => {
    expect(partCount(DEFAULT_SPLIT, rest, 2)).toBe(parts);
  });

  test("never make a part smaller than the least handover", () => {
    expect(partCount(DEFAULT_SPLIT, { aheadCount: 60, itemMs: 10 }, 100)).toBe(11);
  });

  test.each([
    { name: "the last four items, before they are started", rest: { aheadCount: 6, itemMs: 100 }, cuts: [2, 3, 4, 5] },
    { name: "all that is left if it is less", rest: { aheadCount: 2, itemMs: 100 }, cuts: [0, 1] },
    { name: "nothing while the end is far", rest: { aheadCount: 10, itemMs: 100 }, cuts: [] },
    { name: "several short items in each part", rest: { aheadCount: 23, itemMs: 10 }, cuts: [3, 8, 13, 18] },
    { name: "nothing that is smaller than a part", rest: { aheadCount: 4, itemMs: 10 }, cuts: [] },
    { name: "nothing if nothing is left", rest: { aheadCount: 0, itemMs: 100 }, cuts: [] },
    { name: "nothing of items that take no time", rest: { aheadCount: 1000, itemMs: 0 }, cuts: [] },
    { name: "long items one by one", rest: { aheadCount: 4, itemMs: 60_000 }, cuts: [0, 1, 2, 3] },
  ])("offer $name", ({ rest, cuts }) => {
    expect(tailCuts(DEFAULT_SPLIT, rest)).toEqual(cuts);
  });

  test("nonsense is refused", () => {
    expect(() => makeSplitPolicy({ minHandoverMs: -1 })).toThrow("minHandoverMs of split must be");
    expect(() => makeSplitPolicy("always" as never)).toThrow("split must be an object or false");
  });
});

describe("waiting for something to claim", () => {
  test("never a loop, never longer than half a second, and twice as long each time until then", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(chance, fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { nil: undefined })), {
          maxLength: 12,
        }),
        (waits) => {
          const backoff = new ClaimBackoff();
          for (const [index, [random, untilFreeMs]] of waits.entries()) {
            const ms = backoff.nextWaitMs({ untilFreeMs, random });
            expect(ms).toBeGreaterThanOrEqual(10);
            expect(ms).toBeLessThanOrEqual(Math.min(500, 20 * 2 ** index * 1.5));
            if (untilFreeMs !== undefined) expect(ms).toBeLessThanOrEqual(Math.max(10, untilFreeMs));
          }
          backoff.reset();
          expect(backoff.nextWaitMs({ untilFreeMs: undefined, random: 0.5 })).toBe(20);
        },
      ),
    );
  });
});
