// The buffer is written as 32-bit words and read as 64-bit integers. A wrong word would be
// a timestamp that is off by centuries or out of order, and only in some milliseconds.
import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { LOGICAL_MAX, MAX_GRANT_COUNT, PHYSICAL_MS_MAX } from "./limits.ts";
import { TimestampBuf } from "./timestamp-buf.ts";
import { Timestamp } from "./timestamp.ts";

describe("TimestampBuf", () => {
  // Either side of every place where a word could carry, change sign or run out.
  test.each([0, 1, 8_191, 8_192, 16_383, 16_384, 2 ** 31, 2 ** 45, 2 ** 45 - 1, 1_700_000_000_000, PHYSICAL_MS_MAX])(
    "writes the ends of millisecond %d as they pack",
    (physicalMs) => {
      const buf = new TimestampBuf(2);
      buf.append({ physicalMs, logicalStart: 0, count: 1 });
      buf.append({ physicalMs, logicalStart: LOGICAL_MAX, count: 1 });
      expect([buf.at(0), buf.at(1)]).toEqual([
        Timestamp.pack({ physicalMs, logical: 0 }),
        Timestamp.pack({ physicalMs, logical: LOGICAL_MAX }),
      ]);
    },
  );

  test("holds a whole millisecond", () => {
    const buf = new TimestampBuf(MAX_GRANT_COUNT);
    buf.append({ physicalMs: 9, logicalStart: 0, count: MAX_GRANT_COUNT });
    const base = Timestamp.pack({ physicalMs: 9, logical: 0 });
    expect(buf.view().every((value, index) => value === base + BigInt(index))).toBe(true);
    expect(buf.room).toBe(0);
  });

  test("is empty again after clear", () => {
    const buf = new TimestampBuf(2);
    buf.append({ physicalMs: 9, logicalStart: 0, count: 2 });
    buf.clear();
    expect([buf.length, buf.room, buf.view().length]).toEqual([0, 2, 0]);
    expect(() => buf.at(0)).toThrow(InvariantViolation);
  });

  test("refuses what does not fit, and keeps what it held", () => {
    const buf = new TimestampBuf(2);
    buf.append({ physicalMs: 9, logicalStart: 0, count: 1 });
    expect(() => buf.append({ physicalMs: 9, logicalStart: 1, count: 2 })).toThrow(InvariantViolation);
    expect(() => buf.append({ physicalMs: 9, logicalStart: LOGICAL_MAX, count: 2 })).toThrow(InvariantViolation);
    expect(() => buf.append({ physicalMs: 9, logicalStart: 0, count: -1 })).toThrow(InvariantViolation);
    expect([...buf.view()]).toEqual([Timestamp.pack({ physicalMs: 9, logical: 0 })]);
  });

  test.each([0, -1, 1.5, Number.NaN])("cannot be made for %s timestamps", (capacity) => {
    expect(() => new TimestampBuf(capacity)).toThrow(InvariantViolation);
  });
});
