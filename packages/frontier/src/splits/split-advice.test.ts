// Advice decides where a running shard is cut. A point outside the range, or twice the same, makes a split that is refused; points
// that leave the parts unequal leave workers idle; and points that change from call to call make a retry another split.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { alignSplitPoints } from "./align-split-points.ts";
import { byteMidpoint } from "../arithmetic/byte-midpoint.ts";
import { manifestHint } from "../hints/hints.fixture.ts";
import { encodeKey } from "../keys/key-encoding.ts";
import {
  anyKey,
  ascii,
  bytes,
  denseKey,
  expectBytes,
  filled,
  fullKey,
  hex,
  join,
  NOT_BYTES,
  toHex,
  u64,
} from "../keys.fixture.ts";
import { keySuccessor } from "../arithmetic/successors.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { ShardHint } from "../hints/shard-hint.ts";
import { evenSplitPoints, rangeMidpoint, splitPointsFromSamples } from "./split-advice.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const range = fc.record({ start: denseKey(), end: denseKey() });
const partCount = fc.integer({ min: 1, max: 9 });

/** Whether points increase strictly and lie strictly inside. */
function areInside(points: readonly Uint8Array[], start: Uint8Array, end: Uint8Array): boolean {
  const bounds = [start, ...points, ...(end.length > 0 ? [end] : [])];
  return bounds.every((bound, index) => index === 0 || compareBytes(bounds[index - 1]!, bound) < 0);
}

function atWidth(key: Uint8Array, width: number): bigint {
  return BigInt(`0x${toHex(key).padEnd(2 * width, "0")}`);
}

describe("rangeMidpoint", () => {
  test("is the byte midpoint where there is an end", () => {
    fc.assert(
      fc.property(denseKey(), denseKey({ min: 1 }), (start, end) => {
        expect(rangeMidpoint({ start, end })).toEqual(byteMidpoint(start, end));
      }),
    );
  });

  test("without an end, is half-way to one more ff than the start is long", () => {
    fc.assert(
      fc.property(denseKey({ max: 6 }), (start) => {
        const midpoint = rangeMidpoint({ start, end: bytes() })!;
        expect(midpoint).toEqual(byteMidpoint(start, filled(start.length + 1, 0xff)));
        expect(compareBytes(start, midpoint)).toBeLessThan(0);
      }),
    );
    expect(toHex(rangeMidpoint({ start: bytes(), end: bytes() })!)).toBe("7f");
    expect(toHex(rangeMidpoint({ start: ascii("a"), end: bytes() })!)).toBe("b07f");
  });

  test("exists above every key that has one above it, up to the greatest size", () => {
    fc.assert(
      fc.property(fullKey, (start) => {
        const midpoint = rangeMidpoint({ start, end: bytes() });
        const isLast = start.length === MAX_KEY_SIZE && start.every((byte) => byte === 0xff);
        expect(midpoint === undefined).toBe(isLast);
        if (midpoint) expect(compareBytes(start, midpoint)).toBeLessThan(0);
        if (midpoint) expect(midpoint.length).toBeLessThanOrEqual(MAX_KEY_SIZE);
        // At the greatest size there is no room for one more.
        if (start.length === MAX_KEY_SIZE)
          expectBytes(midpoint, byteMidpoint(start, filled(MAX_KEY_SIZE, 0xff)) ?? keySuccessor(start));
      }),
    );
    const lastButOne = join(filled(MAX_KEY_SIZE - 1, 0xff), bytes(0xfe));
    expectBytes(rangeMidpoint({ start: lastButOne, end: bytes() }), filled(MAX_KEY_SIZE, 0xff));
    expect(rangeMidpoint({ start: filled(MAX_KEY_SIZE, 0xff), end: bytes() })).toBeUndefined();
    expect(rangeMidpoint({ start: filled(MAX_KEY_SIZE + 1), end: bytes() })).toBeUndefined();
  });
});

describe("evenSplitPoints", () => {
  test("are at most one fewer than the parts, in order, inside, and always the same", () => {
    fc.assert(
      fc.property(range, partCount, ({ start, end }, count) => {
        const points = evenSplitPoints({ start, end }, count);
        expect(points.length).toBeLessThan(count);
        expect(areInside(points, start, end) || points.length === 0).toBe(true);
        expect(evenSplitPoints({ start, end }, count)).toEqual(points);
      }),
      { numRuns: 1000 },
    );
  });

  test("cut parts that are equal to within one unit, eight bytes finer than the bounds", () => {
    fc.assert(
      fc.property(range, partCount, ({ start, end: given }, count) => {
        const end = given.length > 0 ? given : filled(start.length + 1, 0xff);
        fc.pre(compareBytes(start, end) < 0);
        const width = Math.max(start.length, end.length) + 8;
        const points = evenSplitPoints({ start, end: given }, count);
        const bounds = [start, ...points, end].map((bound) => atWidth(bound, width));
        const sizes = bounds.slice(1).map((bound, index) => bound - bounds[index]!);
        const span = atWidth(end, width) - atWidth(start, width);
        // Fewer points only where the range has fewer units than parts.
        expect(points.length).toBe(span < BigInt(count) ? Math.max(0, Number(span) - 1) : count - 1);
        if (points.length === count - 1) {
          for (const size of sizes)
            expect(size === span / BigInt(count) || size === span / BigInt(count) + 1n).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["00", "04", 4, ["01", "02", "03"]],
    ["", "", 4, ["3fc0", "7f80", "bf40"]],
    ["61", "62", 2, ["6180"]],
    ["", "03", 3, ["01", "02"]],
    ["61", "6100", 2, []],
    ["62", "61", 2, []],
    ["61", "61", 2, []],
    ["61", "62", 1, []],
    ["00", "03", 2, ["0180"]],
  ])("[%s, %s) in %i: %j", (start, end, count, points) => {
    expect(evenSplitPoints({ start: hex(start), end: hex(end) }, count).map(toHex)).toEqual(points);
  });

  test("are inside at the greatest size too, and none where a bound is larger", () => {
    fc.assert(
      fc.property(fullKey, anyKey, (start, end) => {
        const points = evenSplitPoints({ start, end }, 3);
        expect(areInside(points, start, end) || points.length === 0).toBe(true);
        expect(points.every((point) => point.length <= MAX_KEY_SIZE)).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect(evenSplitPoints({ start: filled(MAX_KEY_SIZE), end: filled(MAX_KEY_SIZE, 0x62) }, 3).length).toBe(2);
    // Three units and eight parts: each point once.
    const head = filled(MAX_KEY_SIZE - 1);
    const narrow = { start: join(head, bytes(0x61)), end: join(head, bytes(0x64)) };
    expect(evenSplitPoints(narrow, 8).map((point) => point.at(-1))).toEqual([0x62, 0x63]);
    expect(evenSplitPoints({ start: bytes(), end: filled(MAX_KEY_SIZE + 1) }, 3)).toEqual([]);
    expect(evenSplitPoints({ start: filled(MAX_KEY_SIZE + 1), end: bytes() }, 3)).toEqual([]);
    expect(evenSplitPoints({ start: filled(MAX_KEY_SIZE, 0xff), end: bytes() }, 3)).toEqual([]);
  });
});

describe("splitPointsFromSamples", () => {
  test("are the samples at even ranks, in order and never the start", () => {
    fc.assert(
      fc.property(range, fc.array(denseKey(), { maxLength: 20 }), partCount, ({ start, end }, samples, count) => {
        const isInside = (key: Uint8Array): boolean =>
          compareBytes(start, key) <= 0 && (end.length === 0 || compareBytes(key, end) < 0);
        const distinct = [...new Set(samples.filter(isInside).map(toHex))].sort();
        const ranks = Array.from({ length: count - 1 }, (_, index) =>
          Math.floor(((index + 1) * distinct.length) / count),
        );
        const expected = new Set(
          ranks.map((rank) => distinct[rank]).filter((key) => key !== undefined && key !== toHex(start)),
        );

        const points = splitPointsFromSamples({ start, end }, samples, count);
        expect(points.map(toHex)).toEqual([...expected]);
        expect(areInside(points, start, end) || points.length === 0).toBe(true);
        expect(splitPointsFromSamples({ start, end }, samples.toReversed(), count)).toEqual(points);
      }),
      { numRuns: 1000 },
    );
  });

  test("cut where the keys are, not where there is room for them", () => {
    const samples = Array.from({ length: 100 }, (_, index) => ascii(`logs/2026/${String(index).padStart(3, "0")}`));
    const points = splitPointsFromSamples({ start: bytes(), end: bytes() }, samples, 4);
    expect(points.map((point) => new TextDecoder().decode(point))).toEqual([
      "logs/2026/025",
      "logs/2026/050",
      "logs/2026/075",
    ]);
  });

  test("own their bytes, and leave the samples as they were", () => {
    const samples = [ascii("c"), ascii("b"), ascii("a")];
    const [point] = splitPointsFromSamples({ start: bytes(), end: bytes() }, samples, 2);
    samples[1]!.fill(0);
    expect(point).toEqual(ascii("b"));
    expect(samples.map(toHex)).toEqual(["63", "00", "61"]);
  });

  test("samples that could not be a bound are ignored", () => {
    const samples = [filled(MAX_KEY_SIZE + 1), filled(MAX_KEY_SIZE + 1, 0x63), ascii("zz"), filled(MAX_KEY_SIZE, 0x62)];
    expect(splitPointsFromSamples({ start: bytes(), end: bytes() }, samples, 3).map((point) => point.length)).toEqual([
      MAX_KEY_SIZE,
      2,
    ]);
  });
});

describe("alignSplitPoints", () => {
  const row = (manifestId: bigint, rowNumber: bigint): Uint8Array =>
    encodeKey(new ManifestRowKey({ manifestId, row: rowNumber }));

  test("leaves the points of a range and of a prefix alone", () => {
    const points = [ascii("a"), ascii("b")];
    expect(alignSplitPoints(ShardHint.RANGE, points)).toEqual(points);
    expect(alignSplitPoints({ kind: "Prefix", prefix: ascii("a") }, points)).toEqual(points);
  });

  test("cut a manifest at the first row at or above, between the same rows", () => {
    const hint = manifestHint(7n, 10n, 20n);
    const allRows = Array.from({ length: 10 }, (_, index) => row(7n, 10n + BigInt(index)));
    const rowsBelow = (key: Uint8Array): number => allRows.filter((rowKey) => compareBytes(rowKey, key) < 0).length;
    const nearPoint = fc.oneof(
      fc.bigInt(8n, 22n).map((rowNumber) => row(7n, rowNumber)),
      fc
        .tuple(fc.bigInt(8n, 22n), denseKey({ min: 1, max: 2 }))
        .map(([rowNumber, tail]) => join(row(7n, rowNumber), tail)),
      fc.tuple(fc.bigInt(6n, 8n), fc.bigInt(8n, 22n)).map(([id, rowNumber]) => row(id, rowNumber)),
      fc.tuple(fc.bigInt(6n, 8n), u64, fc.nat(16)).map(([id, rowNumber, size]) => row(id, rowNumber).subarray(0, size)),
    );
    fc.assert(
      fc.property(fc.array(nearPoint, { maxLength: 4 }), (points) => {
        const sorted = points.toSorted(compareBytes);
        const aligned = alignSplitPoints(hint, sorted);
        expect(areInside(aligned, row(7n, 10n), row(7n, 20n)) || aligned.length === 0).toBe(true);
        // The same rows lie on either side of a point before and after.
        const cuts = (keys: readonly Uint8Array[]): Set<number> =>
          new Set(keys.map((key) => rowsBelow(key)).filter((count) => count > 0 && count < 10));
        expect(cuts(aligned)).toEqual(cuts(sorted));
      }),
      { numRuns: 1000 },
    );
  });

  test("makes even points of a manifest's range into rows", () => {
    const hint = manifestHint(7n, 0n, 100n);
    const even = evenSplitPoints({ start: row(7n, 0n), end: row(7n, 100n) }, 4);
    expect(alignSplitPoints(hint, even)).toEqual([row(7n, 25n), row(7n, 50n), row(7n, 75n)]);
    const crowded = evenSplitPoints({ start: row(7n, 0n), end: row(7n, 2n) }, 4);
    expect(alignSplitPoints(manifestHint(7n, 0n, 2n), crowded)).toEqual([row(7n, 1n)]);
  });
});

test("wrong arguments are refused with a sentence", () => {
  const whole = { start: bytes(), end: bytes() };
  for (const value of [undefined, null, 7, {}, { start: bytes() }]) {
    expect(() => rangeMidpoint(value as never)).toThrow(InvariantViolation);
    expect(() => evenSplitPoints(value as never, 2)).toThrow(/must be/);
    expect(() => splitPointsFromSamples(value as never, [], 2)).toThrow(/must be/);
  }
  for (const count of [0, -1, 1.5, Number.NaN, 10_001, "2" as never]) {
    expect(() => evenSplitPoints(whole, count)).toThrow("partCount must be a whole number from 1 to 10000");
    expect(() => splitPointsFromSamples(whole, [], count)).toThrow("partCount must be a whole number from 1 to 10000");
  }
  for (const value of NOT_BYTES) {
    expect(() => splitPointsFromSamples(whole, [value as never], 2)).toThrow("sample must be a Uint8Array");
    expect(() => alignSplitPoints(ShardHint.RANGE, [value as never])).toThrow("split point must be a Uint8Array");
  }
  expect(() => splitPointsFromSamples(whole, "ab" as never, 2)).toThrow("samples must be an array of keys");
  expect(() => alignSplitPoints(ShardHint.RANGE, null as never)).toThrow("points must be an array of keys");
  expect(evenSplitPoints(whole, 10_000).length).toBe(9_999);
});
