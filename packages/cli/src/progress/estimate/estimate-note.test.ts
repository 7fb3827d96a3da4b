// Another process shows the same progress only if it reads what this one has stored, whole or not at all.
import { ShardId } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import type { WorkSpan } from "@gossip/worker";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEstimate, encodeEstimate } from "./estimate-note.ts";
import { estimateWork } from "./estimate-work.ts";
import { fractionOf } from "./progress-estimator.ts";

const total = (spans: readonly WorkSpan[]): number => spans.reduce((sum, { items }) => sum + items, 0);

/** Adjacent spans between these keys. */
function spansBetween(keys: readonly Uint8Array[], items: readonly number[]): WorkSpan[] {
  const sorted = keys
    .toSorted(compareBytes)
    .filter((key, index, all) => index === 0 || compareBytes(all[index - 1]!, key) < 0);
  return sorted.slice(1).map((end, index) => ({ start: sorted[index]!, end, items: items[index % items.length]! }));
}

test("keeps the number of items, and has spans in order, in a document that fits into a note", () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(
      fc.array(key, { minLength: 2, maxLength: 400 }),
      fc.array(fc.nat(500), { minLength: 1 }),
      (keys, items) => {
        const spans = spansBetween(keys, items);
        const value = encodeEstimate({ spans, isExact: true });
        expect(value.length).toBeLessThan(16_384);
        const decoded = decodeEstimate(value)!;
        expect(decoded.isExact).toBe(true);
        expect(total(decoded.spans)).toBe(total(spans));
        expect(decoded.spans.every(({ start, end }) => end.length === 0 || compareBytes(start, end) < 0)).toBe(true);
        // A shard at an end that is not covered would be taken for one that no one has counted.
        if (spans.length === 0) return;
        const [first, last] = [decoded.spans[0]!.start, decoded.spans.at(-1)!.end];
        expect(compareBytes(first, spans[0]!.start)).toBeLessThanOrEqual(0);
        expect(last.length === 0 || compareBytes(last, spans.at(-1)!.end) >= 0).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test("long keys with a common beginning are joined, not lost", () => {
  const long = (last: number): Uint8Array => Uint8Array.of(...new Uint8Array(100).fill(7), last);
  const spans = spansBetween([Uint8Array.of(1), long(1), long(2), long(3), Uint8Array.of(9)], [1000]);
  expect(total(decodeEstimate(encodeEstimate({ spans }))!.spans)).toBe(4000);
});

test("a count of a tree covers its last shard, whose end is longer than a stored bound", () => {
  const key = (text: string): Uint8Array => Buffer.from(text);
  const end = new Uint8Array(256).fill(0xff);
  const { spans } = decodeEstimate(encodeEstimate({ spans: [{ start: Uint8Array.of(0), end, items: 60 }] }))!;
  const shards = [
    { start: Uint8Array.of(0), end: key("f8"), items: 57, status: "Done" as const },
    { start: key("f8"), end, items: 0, status: "Active" as const },
  ].map(({ start, end: to, items, status }, index) => {
    return { root: ShardId.fromRaw(BigInt(index + 1)), range: { start, end: to }, lastKey: undefined, status, items };
  });
  const fraction = fractionOf(estimateWork(shards, { spans, isExact: true }))!;
  expect(Math.abs(fraction - 57 / 60)).toBeLessThan(0.1);
});

test("what is not such a document is no estimate", () => {
  for (const text of [
    "",
    "{}",
    "null",
    '{"version":2,"spans":[]}',
    '{"version":1,"spans":[["Ag","AQ",3]]}',
    '{"version":1,"spans":[["AQ","Ag",-3]]}',
  ])
    expect(decodeEstimate(Buffer.from(text))).toBe(undefined);
});
