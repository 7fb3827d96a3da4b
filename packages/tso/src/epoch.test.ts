// An epoch fences off a deposed leader. Two leaderships that compare equal after a trip
// over the wire would let the old one commit into the new one's window.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Epoch } from "./epoch.ts";
import { EPOCH_MAX } from "./limits.ts";

const epoch = fc.bigInt({ min: 0n, max: EPOCH_MAX }).map((raw) => Epoch.fromRaw(raw));

describe("Epoch", () => {
  test("its halves bring it back", () => {
    fc.assert(
      fc.property(epoch, (given) => {
        expect(Epoch.fromWords(Epoch.toWords(given))).toBe(given);
      }),
    );
    expect(Epoch.toWords(Epoch.MAX)).toEqual({ high: 2n ** 64n - 1n, low: 2n ** 64n - 1n });
    expect(Epoch.toWords(Epoch.ZERO)).toEqual({ high: 0n, low: 0n });
  });

  test("halves compare as the epochs do", () => {
    const near = fc.tuple(fc.constantFrom(0n, 1n, 2n), fc.constantFrom(0n, 1n, 2n ** 64n - 1n));
    fc.assert(
      fc.property(near, near, ([ah, al], [bh, bl]) => {
        const [a, b] = [Epoch.fromWords({ high: ah, low: al }), Epoch.fromWords({ high: bh, low: bl })];
        expect(a < b).toBe(ah < bh || (ah === bh && al < bl));
      }),
    );
  });

  test("refuses what does not fit", () => {
    for (const bad of [-1n, EPOCH_MAX + 1n, 3 as unknown as bigint]) {
      expect(Epoch.tryFromRaw(bad)).toEqual({ ok: false, error: { kind: "EpochOutOfRange" } });
      expect(() => Epoch.fromRaw(bad)).toThrow(InvariantViolation);
    }
    expect(() => Epoch.fromWords({ high: 2n ** 64n, low: 0n })).toThrow(InvariantViolation);
    expect(() => Epoch.fromWords({ high: 0n, low: -1n })).toThrow(InvariantViolation);
  });
});
