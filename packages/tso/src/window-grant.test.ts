// A grant that arrives over a wire is cut into slices for many callers. One that left its
// millisecond would carry into the next and hand the same timestamp to two of them.
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Epoch } from "./epoch.ts";
import { LOGICAL_MAX, MAX_GRANT_COUNT, PHYSICAL_MS_MAX } from "./limits.ts";
import { TimestampBuf } from "./timestamp-buf.ts";
import { Timestamp } from "./timestamp.ts";
import { WindowGrant } from "./window-grant.ts";

const valid = fc
  .record({
    physicalMs: fc.oneof(fc.integer({ min: 0, max: PHYSICAL_MS_MAX }), fc.constantFrom(0, 8_191, PHYSICAL_MS_MAX)),
    logicalStart: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: LOGICAL_MAX - 300, max: LOGICAL_MAX })),
    count: fc.integer({ min: 1, max: 300 }),
  })
  .filter(({ logicalStart, count }) => logicalStart + count <= MAX_GRANT_COUNT)
  .map((parts) => unwrap(WindowGrant.tryMake({ ...parts, epoch: Epoch.ZERO })));

describe("WindowGrant", () => {
  test("holds count timestamps, each one above the one before it", () => {
    fc.assert(
      fc.property(valid, (grant) => {
        const all = Array.from({ length: grant.count }, (_, index) => WindowGrant.at(grant, index));
        expect(all[0]).toBe(WindowGrant.first(grant));
        expect(all.at(-1)).toBe(WindowGrant.last(grant));
        all.forEach((timestamp, index) => expect(timestamp).toBe(all[0]! + BigInt(index)));
        expect(Timestamp.physicalMs(all.at(-1)!)).toBe(grant.physicalMs);
      }),
    );
  });

  test("writes the same timestamps into a buffer", () => {
    fc.assert(
      fc.property(valid, valid, (a, b) => {
        const buf = new TimestampBuf(a.count + b.count);
        buf.append(a);
        buf.append(b);
        const expected = [a, b].flatMap((grant) =>
          Array.from({ length: grant.count }, (_, i) => WindowGrant.at(grant, i)),
        );
        expect([...buf.view()]).toEqual(expected);
      }),
    );
  });

  const parts = { physicalMs: 5, logicalStart: 0, count: 1, epoch: Epoch.ZERO };

  test.each([-1, 1.5, Number.NaN, PHYSICAL_MS_MAX + 1])("refuses the millisecond %s first", (physicalMs) => {
    expect(WindowGrant.tryMake({ ...parts, physicalMs, count: 0, logicalStart: -1 })).toEqual({
      ok: false,
      error: { kind: "PhysicalMsOutOfRange", physicalMs },
    });
  });

  test.each([0, -1, 0.5, Number.NaN, MAX_GRANT_COUNT + 1])("refuses the count %s next", (count) => {
    expect(WindowGrant.tryMake({ ...parts, count, logicalStart: -1 })).toEqual({
      ok: false,
      error: { kind: "InvalidCount", count },
    });
  });

  test.each([
    { logicalStart: -1, count: 1 },
    { logicalStart: 0.5, count: 1 },
    { logicalStart: 1, count: MAX_GRANT_COUNT },
    { logicalStart: LOGICAL_MAX, count: 2 },
  ])("refuses $count counters from $logicalStart", (range) => {
    expect(WindowGrant.tryMake({ ...parts, ...range })).toEqual({
      ok: false,
      error: { kind: "LogicalRangeOutOfRange", ...range },
    });
  });

  test("an index outside the grant is a broken invariant", () => {
    expect(() => WindowGrant.at(parts, 1)).toThrow(InvariantViolation);
    expect(() => WindowGrant.at(parts, -1)).toThrow(InvariantViolation);
  });
});
