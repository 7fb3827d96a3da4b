// etcd compares these texts to decide whether a bound grows. Where their order were not the order of the
// bounds, a lower bound could replace a higher one.
import { PHYSICAL_MS_MAX } from "@gossip/tso";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHighWater, encodeHighWater, leastTextAt } from "./high-water-record.ts";

const record = fc.record({
  highWaterMs: fc.oneof(fc.integer({ min: 0, max: PHYSICAL_MS_MAX }), fc.constantFrom(0, 1, 255, 256, PHYSICAL_MS_MAX)),
  leaseId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
});

describe("the high-water record", () => {
  test("comes back", () => {
    fc.assert(
      fc.property(record, (given) => {
        expect(decodeHighWater(encodeHighWater(given))).toEqual({ ok: true, value: given });
      }),
    );
  });

  test("is below the least text at a bound exactly where its own bound is lower", () => {
    fc.assert(
      fc.property(record, record, (stored, asked) => {
        expect(encodeHighWater(stored) < leastTextAt(asked.highWaterMs)).toBe(stored.highWaterMs < asked.highWaterMs);
      }),
    );
  });

  test.each([
    "",
    "zzz",
    "0000018bcfe56800",
    "0000018bcfe56800 7",
    "0000018BCFE56800 0000000000000007",
    "0000400000000000 0000000000000007",
    "0000018bcfe56800 0000000000000007 ",
  ])("%j is none", (text) => {
    expect(decodeHighWater(text)).toEqual({ ok: false, error: { kind: "CorruptHighWater" } });
  });
});
