// The rules of the allocator one by one: the order of its checks, its edges, and that a
// refusal leaves no trace. A grant at the wrong place is a timestamp issued twice.
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { Epoch } from "./epoch.ts";
import { LOGICAL_MAX, MAX_GRANT_COUNT, PHYSICAL_MS_MAX } from "./limits.ts";
import { TimestampBuf } from "./timestamp-buf.ts";
import { Timestamp } from "./timestamp.ts";
import { WindowAllocator } from "./window-allocator.ts";

const FIRST = Epoch.fromRaw(1n);
const SECOND = Epoch.fromRaw(2n);
const THIRD = Epoch.fromRaw(3n);

let allocator: WindowAllocator;
beforeEach(() => {
  allocator = new WindowAllocator();
});

function seeded(floorMs: number, ceilingMs: number, epoch: Epoch = FIRST): void {
  expect(allocator.seed({ floorMs, ceilingMs, epoch })).toEqual({ ok: true, value: undefined });
}

/** Granted as `[physicalMs, first counter, last counter]`, or the kind of the refusal. */
function grant(nowMs: number, count: number): readonly number[] | string {
  const wouldGrant = allocator.wouldGrant(nowMs, count);
  const granted = allocator.tryGrant(nowMs, count);
  expect(wouldGrant).toBe(granted.ok);
  if (!granted.ok) return granted.error.kind;
  const { physicalMs, logicalStart } = granted.value;
  expect(granted.value.count).toBe(count);
  return [physicalMs, logicalStart, logicalStart + count - 1];
}

describe("the reference vectors", () => {
  test("a window is used up, extended and used again", () => {
    seeded(7000, 9000, THIRD);
    expect(grant(6500, 1)).toEqual([7000, 0, 0]);
    expect(grant(6500, 4)).toEqual([7000, 1, 4]);
    expect(grant(7100, 2)).toEqual([7100, 0, 1]);
    expect(grant(7050, 1)).toEqual([7100, 2, 2]);
    expect(grant(9001, 1)).toBe("WindowExhausted");
    expect(grant(9000, 262_144)).toEqual([9000, 0, 262_143]);
    expect(grant(9000, 1)).toBe("WindowExhausted");
    expect(allocator.prepareWindowExtension({ nowMs: 9000, aheadMs: 3000 })).toEqual({ ok: true, value: 12_001 });
    expect(allocator.commitWindowExtension(12_001, SECOND)).toEqual({
      ok: true,
      value: { kind: "Ignored", reason: { kind: "EpochMismatch", expected: SECOND, current: THIRD } },
    });
    expect(allocator.commitWindowExtension(9000, THIRD)).toEqual({
      ok: true,
      value: { kind: "Ignored", reason: { kind: "NotAdvanced", persistedMs: 9000, committedMs: 9000 } },
    });
    expect(allocator.commitWindowExtension(12_001, THIRD)).toEqual({
      ok: true,
      value: { kind: "Applied", highWaterMs: 12_001 },
    });
    expect(grant(9000, 1)).toEqual([9001, 0, 0]);
  });

  test("a request that does not fit in the rest of a millisecond skips the rest", () => {
    seeded(100, 200);
    expect(grant(100, 262_140)).toEqual([100, 0, 262_139]);
    expect(grant(100, 5)).toEqual([101, 0, 4]);
  });

  test("after the last millisecond there is out of range, not exhausted", () => {
    seeded(PHYSICAL_MS_MAX, PHYSICAL_MS_MAX);
    expect(grant(PHYSICAL_MS_MAX, 262_144)).toEqual([PHYSICAL_MS_MAX, 0, LOGICAL_MAX]);
    expect(allocator.tryGrant(PHYSICAL_MS_MAX, 1)).toEqual({
      ok: false,
      error: { kind: "PhysicalMsOutOfRange", physicalMs: PHYSICAL_MS_MAX + 1 },
    });
  });

  test.each([0, 262_145, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "the count %s is refused in every state",
    (count) => {
      const refused = { ok: false, error: { kind: "InvalidCount", count } };
      expect(allocator.tryGrant(5, count)).toEqual(refused);
      seeded(1, 9);
      expect(allocator.tryGrant(5, count)).toEqual(refused);
      expect(grant(5, 1)).toEqual([5, 0, 0]);
      expect(allocator.tryGrant(5, count)).toEqual(refused);
    },
  );
});

describe("tryGrant", () => {
  test("without leadership is NotLeader", () => {
    expect(grant(5, 1)).toBe("NotLeader");
  });

  test("a far-ahead clock that exhausts the window does not pin the cursor", () => {
    seeded(100, 200);
    expect(grant(5000, 1)).toBe("WindowExhausted");
    expect(grant(150, 1)).toEqual([150, 0, 0]);
  });

  test("a clock reading above 46 bits is out of range, whatever the window", () => {
    seeded(100, 200);
    for (const nowMs of [PHYSICAL_MS_MAX + 1, 2 ** 60, Number.POSITIVE_INFINITY, -1, 100.5, Number.NaN]) {
      expect(allocator.tryGrant(nowMs, 1)).toEqual({
        ok: false,
        error: { kind: "PhysicalMsOutOfRange", physicalMs: nowMs },
      });
    }
    expect(grant(100, 1)).toEqual([100, 0, 0]);
  });

  test("carries on without the clock once a millisecond is full", () => {
    seeded(100, 102);
    expect(grant(0, MAX_GRANT_COUNT)).toEqual([100, 0, LOGICAL_MAX]);
    expect(grant(0, MAX_GRANT_COUNT)).toEqual([101, 0, LOGICAL_MAX]);
    expect(grant(0, 1)).toEqual([102, 0, 0]);
    expect(grant(0, MAX_GRANT_COUNT)).toBe("WindowExhausted");
    expect(grant(0, LOGICAL_MAX)).toEqual([102, 1, LOGICAL_MAX]);
  });

  test("names the epoch that granted", () => {
    seeded(100, 200, THIRD);
    expect(unwrap(allocator.tryGrant(100, 1)).epoch).toBe(THIRD);
  });
});

describe("the packed and the bulk form", () => {
  test("draw from the same cursor as tryGrant", () => {
    seeded(100, 200);
    const buf = new TimestampBuf(8);
    expect(grant(100, 3)).toEqual([100, 0, 2]);
    expect(allocator.tryGrantTimestamp(100)).toEqual({
      ok: true,
      value: Timestamp.pack({ physicalMs: 100, logical: 3 }),
    });
    expect(allocator.tryGrantInto(101, 2, buf).ok).toBe(true);
    expect(allocator.tryGrantInto(101, 1, buf).ok).toBe(true);
    expect([...buf.view()]).toEqual([0, 1, 2].map((logical) => Timestamp.pack({ physicalMs: 101, logical })));
    expect(allocator.tryGrantTimestamp(90)).toEqual({
      ok: true,
      value: Timestamp.pack({ physicalMs: 101, logical: 3 }),
    });
  });

  test("a buffer without room is a broken invariant, and nothing is granted", () => {
    seeded(100, 200);
    const buf = new TimestampBuf(2);
    expect(() => allocator.tryGrantInto(100, 3, buf)).toThrow(InvariantViolation);
    expect([buf.length, grant(100, 1)]).toEqual([0, [100, 0, 0]]);
  });

  test("a refusal leaves the buffer as it was", () => {
    const buf = new TimestampBuf(2);
    expect(allocator.tryGrantInto(100, 1, buf)).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(allocator.tryGrantInto(100, MAX_GRANT_COUNT + 1, buf)).toMatchObject({ error: { kind: "InvalidCount" } });
    expect(allocator.tryGrantTimestamp(100)).toEqual({ ok: false, error: { kind: "NotLeader" } });
    expect(buf.length).toBe(0);
  });
});

describe("seed and stepDown", () => {
  test("a ceiling below the floor is refused and the old leadership stays", () => {
    seeded(100, 200, THIRD);
    expect(allocator.seed({ floorMs: 300, ceilingMs: 299, epoch: SECOND })).toEqual({
      ok: false,
      error: { kind: "InvalidLeadershipWindow", floorMs: 300, ceilingMs: 299 },
    });
    expect([allocator.epoch, allocator.committedHighWaterMs, grant(0, 1)]).toEqual([THIRD, 200, [100, 0, 0]]);
  });

  test.each([-1, 0.5, Number.NaN, PHYSICAL_MS_MAX + 1])("the bound %s is refused, the floor first", (bad) => {
    const refused = { ok: false, error: { kind: "PhysicalMsOutOfRange", physicalMs: bad } };
    expect(allocator.seed({ floorMs: bad, ceilingMs: -7, epoch: FIRST })).toEqual(refused);
    expect(allocator.seed({ floorMs: 5, ceilingMs: bad, epoch: FIRST })).toEqual(refused);
    expect(allocator.isLeader).toBe(false);
  });

  test("an epoch that is none is a broken invariant", () => {
    expect(() => allocator.seed({ floorMs: 1, ceilingMs: 2, epoch: -1n as Epoch })).toThrow(InvariantViolation);
    expect(allocator.isLeader).toBe(false);
  });

  test("seeding again replaces window, cursor and epoch", () => {
    seeded(100, 200, FIRST);
    grant(150, 10);
    seeded(201, 300, SECOND);
    expect([allocator.epoch, allocator.committedHighWaterMs, grant(0, 1)]).toEqual([SECOND, 300, [201, 0, 0]]);
  });

  test("stepping down forgets everything, once or twice", () => {
    seeded(100, 200);
    for (let round = 0; round < 2; round++) {
      allocator.stepDown();
      expect([allocator.isLeader, allocator.epoch, allocator.committedHighWaterMs, grant(150, 1)]).toEqual([
        false,
        undefined,
        undefined,
        "NotLeader",
      ]);
    }
  });
});

describe("extension", () => {
  test("is prepared past the clock, or past the bound where the clock lags", () => {
    seeded(100, 200);
    expect(allocator.prepareWindowExtension({ nowMs: 5000, aheadMs: 10 })).toEqual({ ok: true, value: 5010 });
    expect(allocator.prepareWindowExtension({ nowMs: 0, aheadMs: 10 })).toEqual({ ok: true, value: 211 });
    expect(allocator.prepareWindowExtension({ nowMs: 200, aheadMs: 0 })).toEqual({ ok: true, value: 201 });
    expect(allocator.committedHighWaterMs).toBe(200);
  });

  test("without leadership is NotLeader, never a zero", () => {
    expect(allocator.prepareWindowExtension({ nowMs: 5, aheadMs: 1 })).toEqual({
      ok: false,
      error: { kind: "NotLeader" },
    });
    expect(allocator.commitWindowExtension(5, FIRST)).toEqual({
      ok: true,
      value: { kind: "Ignored", reason: { kind: "NotLeader" } },
    });
  });

  test("a sum that is no safe integer overflows; one above 46 bits is out of range", () => {
    seeded(100, 200);
    for (const aheadMs of [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, Number.NaN, 0.5, -1]) {
      expect(allocator.prepareWindowExtension({ nowMs: 300, aheadMs })).toEqual({
        ok: false,
        error: { kind: "WindowExtensionOverflow", floorMs: 201, nowMs: 300, aheadMs },
      });
    }
    expect(allocator.prepareWindowExtension({ nowMs: PHYSICAL_MS_MAX, aheadMs: 1 })).toEqual({
      ok: false,
      error: { kind: "PhysicalMsOutOfRange", physicalMs: PHYSICAL_MS_MAX + 1 },
    });
    expect(allocator.prepareWindowExtension({ nowMs: PHYSICAL_MS_MAX, aheadMs: 0 })).toEqual({
      ok: true,
      value: PHYSICAL_MS_MAX,
    });
    for (const nowMs of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(allocator.prepareWindowExtension({ nowMs, aheadMs: 1 })).toEqual({
        ok: false,
        error: { kind: "PhysicalMsOutOfRange", physicalMs: nowMs },
      });
    }
  });

  test("a foreign epoch outranks a bound that does not advance", () => {
    seeded(100, 200, THIRD);
    expect(allocator.commitWindowExtension(150, SECOND)).toMatchObject({
      value: { reason: { kind: "EpochMismatch" } },
    });
    expect(allocator.commitWindowExtension(200, THIRD)).toMatchObject({ value: { reason: { kind: "NotAdvanced" } } });
  });

  test("a bound above the prepared one is accepted: the driver had more", () => {
    seeded(100, 200);
    expect(allocator.commitWindowExtension(99_999, FIRST)).toMatchObject({
      value: { kind: "Applied", highWaterMs: 99_999 },
    });
    expect(grant(99_999, 1)).toEqual([99_999, 0, 0]);
  });

  test.each([-1, 0.5, Number.NaN, PHYSICAL_MS_MAX + 1])("the bound %s is not a bound", (bad) => {
    seeded(100, 200);
    expect(allocator.commitWindowExtension(bad, FIRST)).toEqual({
      ok: false,
      error: { kind: "PhysicalMsOutOfRange", physicalMs: bad },
    });
    expect(allocator.committedHighWaterMs).toBe(200);
  });
});
