// The share of the key space is not the share of the work. Each case here is a run whose items lie unevenly, where an
// estimate by keys would be far off.
import { ShardId } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateWork } from "./estimate-work.ts";
import { expectItems } from "./expected-items.ts";
import type { ShardWork } from "./expected-shard.ts";
import { keyPosition } from "@gossip/insight";
import { fractionOf, ProgressEstimator } from "./progress-estimator.ts";

const key = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);
const range = (start: number, end: number) => ({ start: key(start), end: key(end) });
const shard = (start: number, fields: Partial<ShardWork> = {}): ShardWork => ({
  root: ShardId.fromRaw(BigInt(start)),
  range: range(start, start + 1),
  lastKey: undefined,
  status: "Active",
  items: 0,
  ...fields,
});
const span = (start: number, end: number, items: number) => ({ ...range(start, end), items });

const NOTHING = { spans: [] };

describe("keyPosition", () => {
  test("is 0 up to the start, 1 from the end on, and ascends between them", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (...keys) => {
        const [start, low, high, end] = keys.toSorted((a, b) => Buffer.compare(a, b)) as [
          Uint8Array,
          Uint8Array,
          Uint8Array,
          Uint8Array,
        ];
        const [at, next] = [keyPosition({ start, end }, low), keyPosition({ start, end }, high)];
        expect(at >= 0 && at <= next && next <= 1).toBe(true);
        expect(keyPosition({ start: low, end: high }, start)).toBe(0);
        if (Buffer.compare(low, high) < 0) expect(keyPosition({ start: low, end: high }, end)).toBe(1);
      }),
    );
    expect(keyPosition({ start: key(0x61, 0), end: key(0x61, 0x80) }, key(0x61, 0x20))).toBeCloseTo(0.25);
    expect(keyPosition({ start: key(0), end: key() }, key(0x80))).toBeCloseTo(0.5);
  });
});

describe("expectItems", () => {
  test("adds up the spans that a range touches, and returns what they leave open", () => {
    const spans = [span(2, 4, 10), span(4, 6, 100), span(8, 9, 7)];
    expect(expectItems(spans, range(2, 6))).toEqual({ items: 110, gaps: [] });
    expect(expectItems(spans, range(3, 5))).toEqual({ items: 55, gaps: [] });
    expect(expectItems(spans, range(0, 20))).toEqual({ items: 117, gaps: [range(0, 2), range(6, 8), range(9, 20)] });
    expect(expectItems([], range(3, 5))).toEqual({ items: 0, gaps: [range(3, 5)] });
    expect(expectItems([{ start: key(3), end: key(), items: 4 }], { start: key(1), end: key() })).toEqual({
      items: 4,
      gaps: [range(1, 3)],
    });
  });
});

describe("estimateWork", () => {
  test("knows nothing about a run that has just begun, without an estimate of the source", () => {
    expect(estimateWork([shard(1), shard(2), shard(3), shard(4), shard(5)], NOTHING)).toBe(undefined);
    expect(estimateWork([shard(1, { items: 50, lastKey: key(1, 0x80) }), shard(2)], NOTHING)).toBe(undefined);
  });

  test("goes by the source's counts, wherever the items are", () => {
    const spans = [span(1, 2, 10), span(2, 3, 990)];
    const shards = [shard(1, { status: "Done", items: 10 }), shard(2)];
    expect(estimateWork(shards, { spans })).toEqual({ done: 10, remaining: 990, parked: 0, deviation: 0 });
    expect(fractionOf(estimateWork(shards, { spans }))).toBeCloseTo(0.01);
  });

  test("counts what is done as done, and only what is left by the estimate", () => {
    const left = estimateWork([shard(1, { items: 70, lastKey: key(1, 0x80) })], { spans: [span(1, 2, 100)] })!;
    expect(left.done).toBe(70);
    // Half of the keys are left. The source expected 50 there, and 70 were found where it expected 50.
    expect(left.remaining).toBeGreaterThan(65);
    expect(left.remaining).toBeLessThan(72);
  });

  test("subtracts what is done from an exact count, wherever the cursor is", () => {
    const shards = [shard(1, { items: 70, lastKey: key(1, 0x80) }), shard(2, { items: 20, lastKey: key(2, 0x01) })];
    const left = estimateWork(shards, { spans: [span(1, 2, 90), span(2, 3, 40)], isExact: true })!;
    expect(left.remaining).toBeCloseTo(40);
  });

  test("takes the mean of the known shards where the source says nothing", () => {
    const done = [1, 2, 3, 4].map((start) => shard(start, { status: "Done", items: 100 }));
    const left = estimateWork([...done, shard(5), shard(6, { items: 50, lastKey: key(6, 0x80) })], NOTHING)!;
    expect(left.remaining).toBeCloseTo(150);
    expect(left.deviation).toBeGreaterThan(25);
    expect(left.deviation).toBeLessThan(50);
  });

  test("has a deviation that tells how different the known shards are", () => {
    const done = [10, 20, 10, 1000].map((items, index) => shard(index, { status: "Done", items }));
    const left = estimateWork([...done, shard(5), shard(6)], NOTHING)!;
    expect(left.deviation).toBeGreaterThan(500);
    expect(fractionOf(left)).toBe(undefined);
  });

  test("a shard in work that is far larger than those that are done makes the rest uncertain", () => {
    const done = Array.from({ length: 30 }, (_, start) => shard(start, { status: "Done", items: 3 }));
    const even = [...done, shard(40, { items: 1, lastKey: key(40, 0x80) }), shard(41)];
    expect(fractionOf(estimateWork(even, NOTHING))).toBeGreaterThan(0.9);
    const skewed = [...done, shard(40, { items: 900, lastKey: key(40, 0x80) }), shard(41)];
    expect(fractionOf(estimateWork(skewed, NOTHING))).toBe(undefined);
  });

  test("keeps parked work apart: it is not done, and it is not waited for", () => {
    const left = estimateWork([shard(1, { status: "Parked" }), shard(2)], { spans: [span(1, 3, 200)] })!;
    expect([left.remaining, left.parked]).toEqual([100, 100]);
  });

  test("what was split off belongs to the shard that it comes from", () => {
    const root = ShardId.fromRaw(1n);
    const parts = [
      shard(1, { root, range: { start: key(1), end: key(1, 0x80) }, status: "Done", items: 50 }),
      shard(1, { root, range: { start: key(1, 0x80), end: key(2) } }),
    ];
    const known = [5, 6, 7, 8].map((start) => shard(start, { status: "Done", items: 100 }));
    expect(estimateWork([...parts, ...known], NOTHING)!.remaining).toBeCloseTo(50);
  });
});

describe("ProgressEstimator", () => {
  const sample = (atMs: number, done: number, remaining: number, deviation = 0) => ({
    atMs,
    items: done,
    unstored: 0,
    left: { done, remaining, parked: 0, deviation },
  });

  test("the fraction never decreases, and is not 1 before the end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.boolean()), { maxLength: 30 }),
        (steps) => {
          const estimator = new ProgressEstimator();
          let last = 0;
          for (const [index, [done, remaining, deviation, isSilent]] of steps.entries()) {
            const { fraction } = isSilent
              ? estimator.addSilence(index * 1000)
              : estimator.add(sample(index * 1000, done, remaining, deviation));
            if (last > 0) expect(fraction).not.toBe(undefined);
            expect(fraction ?? 0).toBeGreaterThanOrEqual(last);
            expect(fraction ?? 0).toBeLessThan(1);
            last = fraction ?? 0;
          }
        },
      ),
    );
  });

  test("shows no fraction that may be far off, and none of nothing", () => {
    expect(new ProgressEstimator().add(sample(0, 100, 900, 500)).fraction).toBe(undefined);
    expect(new ProgressEstimator().add(sample(0, 100, 900, 10)).fraction).toBeCloseTo(0.1);
    expect(new ProgressEstimator().add({ ...sample(0, 5, 0), left: undefined }).fraction).toBe(undefined);
    expect(new ProgressEstimator().add(sample(0, 0, 0)).fraction).toBe(undefined);
  });

  test("counts what is done and not stored yet", () => {
    const estimator = new ProgressEstimator();
    expect(estimator.add({ ...sample(0, 100, 900), unstored: 100 }).fraction).toBeCloseTo(0.2);
  });

  test("in silence the rate falls and the end is unknown", () => {
    const estimator = new ProgressEstimator();
    for (let second = 0; second < 30; second++) estimator.add(sample(second * 1000, second * 100, 6000 - second * 100));
    expect(estimator.add(sample(30_000, 3000, 3000)).remainingMs).toBeCloseTo(30_000, -3);
    expect(estimator.addSilence(40_000)).toMatchObject({ remainingMs: undefined, fraction: 0.5 });
    for (let second = 41; second < 60; second++) estimator.addSilence(second * 1000);
    expect(estimator.addSilence(60_000).perSecond).toBe(0);
  });
});
