// Consumers compare timestamps as raw integers and store them as text. If the packing
// lost a bit or broke the order, two events would swap places with no error anywhere.
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOGICAL_BITS, LOGICAL_MAX, MAX_GRANT_COUNT, PHYSICAL_MS_MAX, TIMESTAMP_MAX } from "./limits.ts";
import { Timestamp } from "./timestamp.ts";

const physicalMs = fc.oneof(
  fc.integer({ min: 0, max: PHYSICAL_MS_MAX }),
  fc.constantFrom(0, 1, 16_383, 16_384, PHYSICAL_MS_MAX - 1, PHYSICAL_MS_MAX),
);
const logical = fc.oneof(fc.integer({ min: 0, max: LOGICAL_MAX }), fc.constantFrom(0, 1, LOGICAL_MAX));
const parts = fc.record({ physicalMs, logical });

describe("Timestamp", () => {
  test("the limits are powers of two that fill 64 bits", () => {
    expect(LOGICAL_MAX).toBe(2 ** LOGICAL_BITS - 1);
    expect(MAX_GRANT_COUNT).toBe(LOGICAL_MAX + 1);
    expect(PHYSICAL_MS_MAX).toBe(2 ** (64 - LOGICAL_BITS) - 1);
    expect(new Date(PHYSICAL_MS_MAX).getUTCFullYear()).toBe(4199);
  });

  test.each([
    { physicalMs: 0, logical: 0, packed: 0n },
    { physicalMs: 1_700_000_000_000, logical: 12_345, packed: 445_644_800_000_012_345n },
    { physicalMs: PHYSICAL_MS_MAX, logical: LOGICAL_MAX, packed: 18_446_744_073_709_551_615n },
  ])("packs ($physicalMs, $logical) as $packed", ({ packed, ...given }) => {
    expect(Timestamp.pack(given)).toBe(packed);
    expect(TIMESTAMP_MAX).toBe(18_446_744_073_709_551_615n);
  });

  test("the parts come back, from the integer and from its text", () => {
    fc.assert(
      fc.property(parts, (given) => {
        const packed = Timestamp.pack(given);
        const read = unwrap(Timestamp.parse(Timestamp.format(packed)));
        expect({ physicalMs: Timestamp.physicalMs(read), logical: Timestamp.logical(read) }).toEqual(given);
      }),
    );
  });

  test("the order of integers and of texts is the order of (physical, logical)", () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const byParts = Math.sign(a.physicalMs - b.physicalMs) || Math.sign(a.logical - b.logical);
        const [x, y] = [Timestamp.pack(a), Timestamp.pack(b)];
        expect(x < y ? -1 : x > y ? 1 : 0).toBe(byParts);
        const [s, t] = [Timestamp.format(x), Timestamp.format(y)];
        expect(s < t ? -1 : s > t ? 1 : 0).toBe(byParts);
      }),
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, PHYSICAL_MS_MAX + 1])(
    "refuses the physical part %s, before it looks at the logical one",
    (bad) => {
      expect(Timestamp.tryPack({ physicalMs: bad, logical: -1 })).toEqual({
        ok: false,
        error: { kind: "PhysicalMsOutOfRange", physicalMs: bad },
      });
    },
  );

  test.each([-1, 0.5, Number.NaN, LOGICAL_MAX + 1])("refuses the logical part %s", (bad) => {
    const given = { physicalMs: 1, logical: bad };
    expect(Timestamp.tryPack(given)).toEqual({ ok: false, error: { kind: "LogicalOutOfRange", logical: bad } });
    expect(() => Timestamp.pack(given)).toThrow(InvariantViolation);
  });

  test("brands what fits in 64 bits and nothing else", () => {
    expect(Timestamp.fromRaw(TIMESTAMP_MAX)).toBe(TIMESTAMP_MAX);
    expect(() => Timestamp.fromRaw(TIMESTAMP_MAX + 1n)).toThrow(InvariantViolation);
    expect(() => Timestamp.fromRaw(-1n)).toThrow(InvariantViolation);
    expect(() => Timestamp.fromRaw(7 as unknown as bigint)).toThrow(InvariantViolation);
  });

  test.each(["", "0", "062f3a6b1f900000 ", "062F3A6B1F900000", "0x2f3a6b1f900000", "062f3a6b1f9000000"])(
    "does not read %j",
    (text) => {
      expect(Timestamp.parse(text)).toEqual({ ok: false, error: { kind: "MalformedTimestamp" } });
    },
  );
});
