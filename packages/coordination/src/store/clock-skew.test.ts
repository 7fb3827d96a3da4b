// A skew that is reported too small lets a worker lose its leases; one that is reported too large refuses to work. So
// the true skew must always lie within what is returned, however slow the store and however coarse its clock.
import { InfraError } from "@gossip/coordination-errors";
import { err, ok, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureClockSkew } from "./clock-skew.ts";

/** A server whose clock is behind ours by `skew`, and that shows it in steps of `precisionMs`. */
function world({ skew, precisionMs, trips }: { skew: number; precisionMs: number; trips: readonly number[] }) {
  let nowMs = 1_700_000_000_123;
  let reading = 0;
  return {
    nowMs: () => nowMs,
    store: {
      readServerTime: async () => {
        const trip = trips[reading++ % trips.length]!;
        nowMs += trip;
        const atMs = Math.floor((nowMs - skew) / precisionMs) * precisionMs;
        nowMs += trip / 2;
        return ok({ atMs, precisionMs });
      },
    },
    readings: () => reading,
  };
}

describe("measureClockSkew", () => {
  test("the true skew lies within the bounds, and a quick precise server bounds it closely", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.constantFrom(1, 10, 1000),
        fc.array(fc.nat(3000), { minLength: 1, maxLength: 5 }),
        async (skew, precisionMs, trips) => {
          const { store, nowMs } = world({ skew, precisionMs, trips });
          const measured = unwrap(await measureClockSkew(store, { nowMs }))!;
          expect(Math.abs(measured.skewMs - skew)).toBeLessThanOrEqual(measured.uncertaintyMs);
          expect(measured.uncertaintyMs).toBeLessThanOrEqual(
            Math.max(50, (precisionMs + 1.5 * Math.min(...trips)) / 2),
          );
        },
      ),
    );
  });

  test("it stops once the reading is precise, and reads a coarse clock several times", async () => {
    const quick = world({ skew: 7, precisionMs: 1, trips: [4] });
    expect(unwrap(await measureClockSkew(quick.store, quick))).toEqual({ skewMs: 5.5, uncertaintyMs: 3.5 });
    expect(quick.readings()).toBe(1);
    const coarse = world({ skew: 7, precisionMs: 1000, trips: [4] });
    unwrap(await measureClockSkew(coarse.store, coarse));
    expect(coarse.readings()).toBe(5);
  });

  test("a clock that is set in between does not confuse it", async () => {
    let reading = 0;
    const readServerTime = async () => ok({ atMs: reading++ === 0 ? 0 : 500_000, precisionMs: 200 });
    expect(unwrap(await measureClockSkew({ readServerTime }, { nowMs: () => 500_000 }))).toEqual({
      skewMs: -100,
      uncertaintyMs: 100,
    });
  });

  test("a store without a server has no skew, and one that fails says why", async () => {
    expect(await measureClockSkew({}, { nowMs: () => 1 })).toEqual(ok(undefined));
    expect(await measureClockSkew({ readServerTime: () => ok(undefined) }, { nowMs: () => 1 })).toEqual(ok(undefined));
    const failure = err(InfraError.transient({ operation: "store.readRun", message: "the store is closed" }));
    expect(await measureClockSkew({ readServerTime: () => failure }, { nowMs: () => 1 })).toEqual(failure);
  });
});
