// Workers of one process that get the same candidates fight over them: all but one have listed for nothing, and read again what they lost.
// Candidates that are kept from a worker for another's sake make it believe that a run is drained, and stop.

import { LogicalTime, RunId, ShardId, TenantId } from "@gossip/contracts";
import type { ClaimCandidate, ClaimListing, ClaimQuery, UpdateShardSet } from "@gossip/coordination";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClaimLister, type FindCandidates } from "./claim-lister.ts";
import { claimSpread } from "./claim-spread.ts";

const SPREADS = 2 ** 32;
const RUN = RunId.fromRaw(1n);
const tenant = TenantId.ZERO;
const time = (value: number) => LogicalTime.fromRaw(BigInt(value));
const ids = (candidates: readonly ClaimCandidate[]) => candidates.map(({ shard }) => shard);

/** Free shards, and leases by the time when each lapses. */
class Shelf {
  readonly free = new Set<ShardId>();
  readonly leases = new Map<ShardId, number>();
  readonly starts: number[] = [];
  limit = 0;

  constructor(count: number) {
    for (let id = 0; id < count; id++) this.free.add(ShardId.fromRaw(BigInt(id)));
  }

  readonly find: FindCandidates = async ({ now, limit, start }) => {
    this.starts.push(start);
    this.limit = limit;
    const distance = (shard: ShardId) => (claimSpread(shard) - start + SPREADS) % SPREADS;
    const free = [...this.free].toSorted((a, b) => distance(a) - distance(b));
    const lapsed = [...this.leases].filter(([, deadline]) => time(deadline) <= now).map(([shard]) => shard);
    const held = [...this.leases.values()].map(time).filter((deadline) => deadline > now);
    const candidates = [...free, ...lapsed].slice(0, limit).map((shard) => ({ shard }));
    return { run: undefined, candidates, earliestDeadline: held.toSorted((a, b) => (a < b ? -1 : 1))[0] };
  };
}

const ask = (limit: number, more: Partial<ClaimQuery> = {}): ClaimQuery => ({
  tenant,
  run: RUN,
  now: time(1),
  limit,
  spread: 0,
  ...more,
});
const acquired = (shard: ShardId) =>
  ({
    kind: "UpdateShard",
    tenant,
    run: RUN,
    shard: { before: { shard, fenceEpoch: 1n }, after: { shard, fenceEpoch: 2n } },
  }) as unknown as UpdateShardSet;

/** Claim up to `count` of what a listing gave, a turn later, as a commit does. */
async function claim(
  lister: ClaimLister,
  shelf: Shelf,
  { candidates }: ClaimListing,
  count: number,
): Promise<{ readonly taken: ShardId[]; readonly lost: number }> {
  const tried = ids(candidates).slice(0, count);
  await new Promise(setImmediate);
  const taken = tried.filter((shard) => shelf.free.delete(shard));
  lister.noteWritten(tried.map(acquired));
  return { taken, lost: tried.length - taken.length };
}

// However slow the machine, no time passes but what a test lets pass.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

describe("ClaimLister", () => {
  test("workers that claim many at a time drain a run, and none is given what another was", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 900 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 26, max: 130 }),
        async (shards, workers, count) => {
          const shelf = new Shelf(shards);
          const lister = new ClaimLister(shelf.find);
          const work = async (spread: number): Promise<number> => {
            let lost = 0;
            for (;;) {
              const listing = await lister.list(ask(count + 7, { spread }));
              if (listing.candidates.length === 0) return lost;
              lost += (await claim(lister, shelf, listing, count)).lost;
            }
          };
          const lost = await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker * 1000)));
          expect({ lost: lost.reduce((a, b) => a + b, 0), left: shelf.free.size }).toEqual({ lost: 0, left: 0 });
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a single claim gets all candidates up to its limit", async () => {
    for (const count of [1, 8, 32, 33, 200]) {
      const lister = new ClaimLister(new Shelf(count).find);
      expect(new Set(ids((await lister.list(ask(200))).candidates)).size).toBe(count);
    }
  });

  test("with few candidates for many claims of one, each gets some at once, and not all the same first", async () => {
    const shelf = new Shelf(12);
    const lister = new ClaimLister(shelf.find);
    const listings = await Promise.all(Array.from({ length: 10 }, () => lister.list(ask(8))));
    expect(listings.map(({ candidates }) => candidates.length)).toEqual(listings.map(() => 8));
    expect(new Set(listings.map(({ candidates }) => candidates[0]!.shard)).size).toBeGreaterThan(4);
  });

  test("a claim at a later time gets the candidates of its own time", async () => {
    const shelf = new Shelf(3);
    shelf.leases.set(ShardId.fromRaw(77n), 5);
    const lister = new ClaimLister(shelf.find);
    const [, before, after] = await Promise.all([
      lister.list(ask(8)),
      lister.list(ask(8, { now: time(4) })),
      lister.list(ask(8, { now: time(6) })),
    ]);
    expect({ count: before.candidates.length, earliest: before.earliestDeadline }).toEqual({
      count: 3,
      earliest: time(5),
    });
    expect({ count: after.candidates.length, earliest: after.earliestDeadline }).toEqual({
      count: 4,
      earliest: undefined,
    });
  });

  test("claims that arrive during a listing share a statement, and no statement exceeds its limit", async () => {
    const shelf = new Shelf(5000);
    const lister = new ClaimLister(shelf.find);
    const listings = await Promise.all(Array.from({ length: 20 }, () => lister.list(ask(107))));
    expect(new Set(listings.flatMap(({ candidates }) => ids(candidates))).size).toBe(20 * 107);
    expect(shelf.starts.length).toBe(1 + Math.ceil(19 / 9));
    expect((await lister.list(ask(100_000))).candidates.length).toBe(1024);
    expect(shelf.limit).toBe(1024);
  });

  test("the first listing of a run begins at its worker's spread, the next continues, and runs are independent", async () => {
    const shelf = new Shelf(64);
    const lister = new ClaimLister(shelf.find);
    expect(lister.startOf({ tenant, run: RUN })).toBe(0);
    const { candidates } = await lister.list(ask(8, { spread: 7 }));
    await lister.list(ask(8, { spread: 9, run: RunId.fromRaw(2n) }));
    await lister.list(ask(8, { spread: 7 }));
    expect(shelf.starts).toEqual([7, 9, Math.max(...ids(candidates).map(claimSpread)) + 1]);
  });

  test("a listing that fails rejects the claims that share it, and no others", async () => {
    const shelf = new Shelf(64);
    let calls = 0;
    const lister = new ClaimLister((query) =>
      ++calls === 2 ? Promise.reject(new Error("no connection")) : shelf.find(query),
    );
    const settled = await Promise.allSettled([lister.list(ask(8)), lister.list(ask(8)), lister.list(ask(8))]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect((await lister.list(ask(8))).candidates.length).toBe(8);
  });
});

describe("what was handed out and is never claimed", () => {
  test("is given to the next a little later", async () => {
    const lister = new ClaimLister(new Shelf(40).find);
    const first = await lister.list(ask(100));
    let second: ClaimListing | undefined;
    const listing = lister.list(ask(100)).then((given) => (second = given));
    await vi.advanceTimersByTimeAsync(10);
    expect({ first: first.candidates.length, second }).toEqual({ first: 40, second: undefined });
    await vi.advanceTimersByTimeAsync(1000);
    await listing;
    expect(second?.candidates.length).toBe(40);
  });

  test("what a claim did not try of its share is given at once, when it has tried the rest", async () => {
    const shelf = new Shelf(40);
    const lister = new ClaimLister(shelf.find);
    const first = await lister.list(ask(100));
    const second = lister.list(ask(100));
    const [tried] = ids(first.candidates);
    shelf.free.delete(tried!);
    lister.noteWritten([acquired(tried!)]);
    expect((await second).candidates.length).toBe(39);
  });
});
