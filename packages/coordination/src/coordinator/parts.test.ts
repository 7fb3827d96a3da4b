// The small parts that decide when: a clock that steps back, a pause that does not grow, a cooldown that never forgets,
// or an order in which all workers walk in step.

import { LogicalTime, ShardId, WorkerId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shardId, time, worker } from "../kernel/world.fixture.ts";
import { ClaimCooldown } from "./claim-cooldown.ts";
import { attraction, inRendezvousOrder, spreadOf } from "./rendezvous.ts";
import { randomFraction, waitMs } from "./backoff-timer.ts";
import { makeRetryPolicy, pauseMs } from "./retry-policy.ts";
import { systemClock } from "./system-clock.ts";

describe("systemClock", () => {
  test("never steps back, and stands still until its source has caught up", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (readings) => {
        const rest = [...readings];
        const clock = systemClock(() => rest.shift()!);
        let greatest = 0;
        for (const reading of readings) {
          greatest = Math.max(greatest, reading);
          expect(clock.now()).toBe(BigInt(greatest));
        }
      }),
    );
  });

  test("drops fractions of a millisecond", () => {
    expect(systemClock(() => 12.9).now()).toBe(12n);
  });

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])("a source that reads %s is refused", (reading) => {
    expect(() => systemClock(() => reading).now()).toThrow(InvariantViolation);
    expect(() => systemClock(undefined as never)).toThrow(InvariantViolation);
  });
});

describe("pauses", () => {
  test("double six times at most, stay under the longest, and vary by half either way", () => {
    const pauses = (random: number) => {
      const policy = makeRetryPolicy({ random: () => random });
      return Array.from({ length: 9 }, (_, index) => pauseMs(policy, index + 1));
    };
    expect(pauses(0.5)).toEqual([5, 10, 20, 40, 80, 160, 200, 200, 200]);
    expect(pauses(0)).toEqual([2.5, 5, 10, 20, 40, 80, 100, 100, 100]);
  });

  test("are real by default, but not over a store that answers at once", () => {
    expect(makeRetryPolicy().sleep).toBe(waitMs);
    expect(makeRetryPolicy().random).toBe(randomFraction);
    expect(makeRetryPolicy({}, { answersAtOnce: true }).sleep).not.toBe(waitMs);
    const sleep = () => Promise.resolve();
    expect(makeRetryPolicy({ sleep }).sleep).toBe(sleep);
  });

  test.each([
    { maxAttempts: 0 },
    { baseMs: -1 },
    { baseMs: 10, maxMs: 5 },
    { sleep: 5 as never },
    { random: 0.5 as never },
  ])("%o is refused", (policy) => {
    expect(() => makeRetryPolicy(policy)).toThrow(InvariantViolation);
  });
});

describe("ClaimCooldown", () => {
  const claim = (cooldown: ClaimCooldown, id: number, at: number) => {
    const until = cooldown.begin(worker(id), time(at));
    if (until === undefined) cooldown.end(worker(id), time(at), { hasClaimed: true });
    return until;
  };

  test("holds a worker back for exactly its interval, and no other", () => {
    const cooldown = new ClaimCooldown(10n);
    expect(claim(cooldown, 1, 5)).toBeUndefined();
    expect(claim(cooldown, 1, 14)).toBe(15n);
    expect(claim(cooldown, 2, 6)).toBeUndefined();
    expect(claim(cooldown, 1, 15)).toBeUndefined();
  });

  test("a claim under way holds its worker back, and one that found nothing lets it go again", () => {
    const cooldown = new ClaimCooldown(10n);
    expect(cooldown.begin(worker(1), time(5))).toBeUndefined();
    expect(cooldown.begin(worker(1), time(5))).toBe(15n);
    cooldown.end(worker(1), time(5), { hasClaimed: false });
    expect(cooldown.begin(worker(1), time(6))).toBeUndefined();
  });

  test("of claims that end out of order the latest counts", () => {
    const cooldown = new ClaimCooldown(10n);
    cooldown.begin(worker(1), time(5));
    cooldown.begin(worker(1), time(20));
    cooldown.end(worker(1), time(20), { hasClaimed: true });
    cooldown.end(worker(1), time(5), { hasClaimed: true });
    expect(cooldown.begin(worker(1), time(29))).toBe(30n);
    expect(cooldown.begin(worker(1), time(30))).toBeUndefined();
    cooldown.end(worker(1), time(5), { hasClaimed: false });
    expect(cooldown.begin(worker(1), time(31))).toBe(40n);
  });

  test("saturates at the end of time", () => {
    const cooldown = new ClaimCooldown((1n << 64n) - 1n);
    claim(cooldown, 1, 5);
    expect(claim(cooldown, 1, 6)).toBe(LogicalTime.MAX);
  });

  test("forgets workers that it no longer holds back", () => {
    const cooldown = new ClaimCooldown(10n);
    for (let id = 0; id < 100_000; id++) claim(cooldown, id, id + 1);
    expect(cooldown.size).toBeLessThan(200);
    const off = new ClaimCooldown(0n);
    expect([claim(off, 1, 5), claim(off, 1, 5), off.size]).toEqual([undefined, undefined, 0]);
  });
});

describe("rendezvous order", () => {
  const shards = Array.from({ length: 8 }, (_, index) => ({ shard: shardId(index) }));

  test("keeps every candidate, and is the same every time", () => {
    const any = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    fc.assert(
      fc.property(any, fc.uniqueArray(any, { maxLength: 20 }), (id, ids) => {
        const candidates = ids.map((raw) => ({ shard: ShardId.fromRaw(raw) }));
        const ordered = inRendezvousOrder(WorkerId.fromRaw(id), candidates);
        expect(new Set(ordered)).toEqual(new Set(candidates));
        expect(inRendezvousOrder(WorkerId.fromRaw(id), candidates.toReversed())).toEqual(ordered);
      }),
    );
  });

  test("the most attractive come first, and the same one again where it came", () => {
    const any = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    fc.assert(
      fc.property(any, fc.array(fc.oneof(any, fc.constantFrom(1n, 2n)), { maxLength: 20 }), (id, ids) => {
        const candidates = ids.map((raw, place) => ({ shard: ShardId.fromRaw(raw), place }));
        const rank = ({ shard, place }: (typeof candidates)[number]) =>
          [attraction(WorkerId.fromRaw(id), shard), -place] as const;
        const byRank = candidates.toSorted((a, b) => rank(b)[0] - rank(a)[0] || rank(b)[1] - rank(a)[1]);
        expect(inRendezvousOrder(WorkerId.fromRaw(id), candidates)).toEqual(byRank);
      }),
    );
  });

  test.each([
    [0n, 0n, 0x37dd_7702, 0xaa3e_5b61],
    [1n, 2n, 0xb88b_2d9b, 0x9941_cd2d],
    [0xffff_ffffn, 1n << 32n, 0x906a_59a4, 0x3fb4_e464],
    [(1n << 64n) - 1n, 0x0123_4567_89ab_cdefn, 0x6bdc_a662, 0x1c82_fd7a],
  ])("is the same on every machine and in every version: worker %i and shard %i", (id, shard, attracted, spread) => {
    expect(attraction(WorkerId.fromRaw(id), ShardId.fromRaw(shard))).toBe(attracted);
    expect(spreadOf(WorkerId.fromRaw(id))).toBe(spread);
  });

  test("a thousand workers choose each of eight shards about alike, first and second", () => {
    const firsts = new Map<bigint, number>();
    const pairs = new Set<string>();
    for (let id = 0; id < 1000; id++) {
      const [first, second] = inRendezvousOrder(worker(id), shards);
      firsts.set(first!.shard, (firsts.get(first!.shard) ?? 0) + 1);
      pairs.add(`${first!.shard} ${second!.shard}`);
    }
    // 125 each, five standard deviations either way.
    for (const { shard } of shards) expect(Math.abs((firsts.get(shard) ?? 0) - 125)).toBeLessThan(55);
    // Workers that lose the same shard do not all try the same next one.
    expect(pairs.size).toBe(56);
  });

  test("workers with neighboring ids start far apart", () => {
    const starts = Array.from({ length: 1000 }, (_, id) => spreadOf(worker(id)));
    const quarters = [0, 1, 2, 3].map(
      (quarter) => starts.filter((start) => Math.floor(start / 2 ** 30) === quarter).length,
    );
    for (const count of quarters) expect(Math.abs(count - 250)).toBeLessThan(70);
  });

  test("every bit of both ids matters", () => {
    const seen = new Set<number>();
    for (let bit = 0n; bit < 64n; bit++) {
      seen.add(attraction(WorkerId.fromRaw(1n << bit), ShardId.fromRaw(0n)));
      seen.add(attraction(WorkerId.fromRaw(0n), ShardId.fromRaw(1n << bit)));
    }
    expect(seen.size).toBe(128);
  });
});
