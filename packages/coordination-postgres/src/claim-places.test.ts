// Workers of one process that look at the same place fight over the same shards: all but one of them has listed for nothing, and reads
// again what it lost. Nothing is wrong then but the time that it takes, so only this would notice.

import { RunId, TenantId } from "@gossip/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ClaimPlaces } from "./claim-places.ts";

const PLACES = 2 ** 32;
const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };

/** A run whose free shards are at even distances around the ring. */
function ringOf(count: number): (start: number, limit: number) => { found: number[] } {
  const step = PLACES / count;
  return (start, limit) => {
    const first = Math.ceil(start / step);
    return { found: Array.from({ length: Math.min(limit, count) }, (_, index) => ((first + index) % count) * step) };
  };
}

test("listings that overlap in time give different shards, once the first has told how dense they are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: PLACES - 1 }), fc.integer({ min: 1, max: 40 }), async (spread, limit) => {
      const look = ringOf(1024);
      const claims = new ClaimPlaces();
      const listed = await Promise.all(
        Array.from({ length: 12 }, (_, worker) => claims.list(run, { spread: (spread + worker) % PLACES, limit }, async (start) => look(start, limit))),
      );
      const places = listed.flatMap((listing) => listing.found);
      // A window may begin one early, where a distance is no whole number.
      expect(places.length - new Set(places).size).toBeLessThanOrEqual(12);
    }),
  );
});

test("the first listing of a run begins where its worker points to, and each run is by itself", async () => {
  const claims = new ClaimPlaces();
  const starts: number[] = [];
  const look = async (start: number) => {
    starts.push(start);
    return { found: [] };
  };
  await claims.list(run, { spread: 7, limit: 8 }, look);
  await claims.list({ ...run, run: RunId.fromRaw(2n) }, { spread: 9, limit: 8 }, look);
  expect(starts).toEqual([7, 9]);
});

test("a listing that fails keeps none of those who wait for it", async () => {
  const claims = new ClaimPlaces();
  const broken = claims.list(run, { spread: 0, limit: 8 }, () => Promise.reject(new Error("no connection")));
  const next = claims.list(run, { spread: 0, limit: 8 }, async (start) => ({ found: [start] }));
  await expect(broken).rejects.toThrow("no connection");
  expect((await next).found).toEqual([0]);
});

test("a run goes around: what is behind the last place is the first", async () => {
  const claims = new ClaimPlaces();
  const look = ringOf(64);
  const seen = new Set<number>();
  for (let listing = 0; listing < 16; listing++) {
    const { found } = await claims.list(run, { spread: PLACES - 1, limit: 8 }, async (start) => look(start, 8));
    for (const place of found) seen.add(place);
  }
  expect(seen.size).toBe(64);
});
