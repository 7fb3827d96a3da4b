// A progress display trusts these counts. An item that is counted twice or not at all is an error that no later step
// repairs, and a list of spans that grows with the source would fill the memory of the process that displays it.
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ItemBatch, ReadRequest } from "./source.ts";
import type { WorkEstimate } from "./work-estimate.ts";
import { countAhead, spreadOrder } from "./count-ahead.ts";
import { rangesBetween } from "./range-shards.ts";
import { isBelowEnd } from "./read-bounds.ts";

const { signal } = new AbortController();
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

function keyOf(value: number): Uint8Array {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(value);
  return key;
}

function reader(keys: readonly Uint8Array[], batchSize: number) {
  return async function* read({ range }: ReadRequest): AsyncGenerator<ItemBatch> {
    const inside = keys.filter((key) => compareBytes(key, range.start) >= 0 && isBelowEnd(key, range.end));
    for (let from = 0; from < inside.length; from += batchSize)
      yield { items: inside.slice(from, from + batchSize).map((key) => ({ key })) };
  };
}

async function estimatesOf(
  keys: readonly Uint8Array[],
  points: readonly number[],
  batchSize: number,
): Promise<WorkEstimate[]> {
  const parts = rangesBetween({ start: Uint8Array.of(0), end: END }, points.map(keyOf));
  const estimates: WorkEstimate[] = [];
  for await (const estimate of countAhead({ parts, read: reader(keys, batchSize), signal })) estimates.push(estimate);
  return estimates;
}

const total = ({ spans }: WorkEstimate): number => spans.reduce((sum, { items }) => sum + items, 0);

describe("countAhead", () => {
  test("every span of every step has exactly the items that are in it, and the last step covers everything", async () => {
    const distinct = fc.uniqueArray(fc.integer({ min: 0, max: 5000 }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(distinct, distinct, fc.integer({ min: 1, max: 9 }), async (values, points, batchSize) => {
        const keys = values.toSorted((a, b) => a - b).map(keyOf);
        const ascending = points.filter((point) => point > 0).toSorted((a, b) => a - b);
        const estimates = await estimatesOf(keys, ascending, batchSize);
        for (const { spans } of estimates)
          for (const { start, end, items } of spans)
            expect(keys.filter((key) => compareBytes(key, start) >= 0 && isBelowEnd(key, end)).length).toBe(items);
        const { spans } = estimates.at(-1)!;
        expect(spans.slice(1).map(({ start }) => start)).toEqual(spans.slice(0, -1).map(({ end }) => end));
        expect(total(estimates.at(-1)!)).toBe(keys.length);
      }),
      { numRuns: 50 },
    );
  });

  test("counts all parts of the key space early, in steps", async () => {
    const keys = Array.from({ length: 64_000 }, (_, index) => keyOf(index));
    const estimates = await estimatesOf(keys, [16_000, 32_000, 48_000], 256);
    expect(estimates.length).toBeGreaterThan(20);
    expect(estimates.every(({ isExact }) => isExact)).toBe(true);
    const half = estimates[Math.floor(estimates.length / 2)]!;
    // The first and the third quarter are counted first.
    expect(half.spans.some(({ start }) => compareBytes(start, keyOf(32_000)) >= 0)).toBe(true);
    expect(half.spans.every(({ start }) => compareBytes(start, keyOf(48_000)) < 0)).toBe(true);
  });

  test("has a bounded number of spans, however many items there are", async () => {
    const keys = Array.from({ length: 400_000 }, (_, index) => keyOf(index));
    const estimates = await estimatesOf(keys, [1000, 2000], 256);
    expect(Math.max(...estimates.map(({ spans }) => spans.length))).toBeLessThan(2100);
    expect(total(estimates.at(-1)!)).toBe(400_000);
    expect(Math.max(...estimates.at(-1)!.spans.map(({ items }) => items))).toBeLessThan(2000);
  });
});

test("spreadOrder has every index once, neighbors far apart", () => {
  expect(spreadOrder(8)).toEqual([0, 4, 2, 6, 1, 5, 3, 7]);
  for (const count of [0, 1, 2, 3, 5, 16, 33])
    expect(spreadOrder(count).toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index));
});
