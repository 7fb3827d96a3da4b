// A page is read in windows. If two windows left a gap, shards between them would never be listed; if they overlapped,
// they would be listed twice.
import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderWindows, windowEnd } from "./order-windows.ts";

const all = { get: "p/s/k0/o/", end: "p/s/k0/o0" };
const SHARD = "/0123456789abcdef";
/** Starts that share prefixes, are prefixes of each other, and end in the first and last digits. */
const start = fc
  .array(fc.constantFrom(0x00, 0x0f, 0x30, 0xf0, 0xff), { maxLength: 4 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));

test("windows of any width follow each other without a gap, and end where the keys do", () => {
  fc.assert(
    fc.property(fc.uniqueArray(start), fc.nat(9), fc.boolean(), (starts, digits, isNarrowing) => {
      const keys = starts.map((each) => `${all.get}${each}${SHARD}`).toSorted();
      const seen: string[] = [];
      let from = all.get;
      let width = digits;
      for (let count = 0; from < all.end; count++) {
        const end = windowEnd(all, from, width);
        expect(end > from && end <= all.end).toBe(true);
        seen.push(...keys.filter((key) => key >= from && key < end));
        from = end;
        // Else there are 16 to the ninth of them.
        width = isNarrowing && count < 3 ? width : Math.max(0, width - 1);
      }
      expect(seen).toEqual(keys);
    }),
  );
});

test("a window begins behind a position of any length", () => {
  fc.assert(
    fc.property(start, fc.nat(12), (digits, width) => {
      const from = `${all.get}${digits}${SHARD}\0`;
      expect(windowEnd(all, from, width) > from).toBe(true);
    }),
  );
});

test("the width is what the keys of a page share, and too few keys say nothing", () => {
  const windows = new OrderWindows();
  const keys = Array.from({ length: 16 }, (_, index) => `${all.get}3030${(0x40 + index).toString(16)}${SHARD}`);
  windows.learn("k0", all, keys.slice(1));
  expect(windows.of("k0")).toBe(0);
  windows.learn("k0", all, keys);
  expect(windows.of("k0")).toBe(5);
  expect(windowEnd(all, keys[15]!, 5)).toBe(`${all.get}30305`);
  expect(windows.of("other")).toBe(0);
});
