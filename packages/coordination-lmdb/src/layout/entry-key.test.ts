// A shard is in one place of the indexes by state. A write that should move it and does not leaves a finished shard to be claimed
// forever, or one that is free and never found.

import {
  Cursor,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  TenantId,
  U64_MAX,
  WorkerId,
  type ShardStatus,
} from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasEntryMoved, mixOf, type RunAddress } from "@gossip/store-kit";
import { lastU64 } from "./keyspace.ts";
import { claimsFrom, deadlineOf, freeFrom, entryKey, statusPrefix, type IndexedShard } from "./entry-key.ts";

const address: RunAddress = { tenant: TenantId.ZERO, run: RunId.fromRaw(7n) };
const status = fc.constantFrom<ShardStatus>("Active", "Done", "Split", "Parked");
const time = fc.constantFrom(1n, 2n, 100n, 101n, 1n << 63n, U64_MAX).map((raw) => LogicalTime.fromRaw(raw));
const owner = fc.constantFrom(1n, 2n).map((raw) => WorkerId.fromRaw(raw));
const lease = fc.option(fc.record({ owner, deadline: time, opId: fc.constant(OpId.fromRaw(1n)) }), { nil: undefined });
const cursor = fc.constantFrom(
  Cursor.initial(),
  Cursor.fromParts({ lastKey: Uint8Array.of(1) }),
  Cursor.fromParts({ lastKey: Uint8Array.of(2) }),
);
const id = fc.constantFrom(0n, 1n, 2n, 1n << 32n, (1n << 63n) | 1n, U64_MAX).map((raw) => ShardId.fromRaw(raw));
const shard = fc
  .record({ shard: id, status, lease, cursor })
  .map((made): IndexedShard => (made.status === "Active" ? made : { ...made, lease: undefined }));

describe("entryKey", () => {
  test("changes exactly if hasEntryMoved says so", () => {
    fc.assert(
      fc.property(shard, shard, (before, other) => {
        const after = { ...other, shard: before.shard };
        const isSame =
          Buffer.compare(entryKey(address, before) ?? Buffer.of(), entryKey(address, after) ?? Buffer.of()) === 0;
        expect(hasEntryMoved(before, after)).toBe(!isSame);
      }),
    );
  });

  test("the shards that can be claimed at a given time are one range, and those held at that time the next", () => {
    fc.assert(
      fc.property(shard, time, (placed, now) => {
        fc.pre(now < U64_MAX);
        const key = entryKey(address, { ...placed, status: "Active" })!;
        const border = claimsFrom(address, now + 1n);
        const isHeld = placed.lease !== undefined && now < placed.lease.deadline;
        expect(Buffer.compare(key, border) >= 0).toBe(isHeld);
        expect(deadlineOf(key)).toBe(placed.lease?.deadline ?? 0n);
        expect(lastU64(key)).toBe(placed.shard);
      }),
    );
  });

  test("free shards come first, those with progress after those without", () => {
    fc.assert(
      fc.property(shard, (placed) => {
        const key = entryKey(address, { ...placed, status: "Active" })!;
        const isFree = placed.lease === undefined;
        const isBegun = placed.cursor.lastKey !== undefined;
        expect(Buffer.compare(key, claimsFrom(address, 1n)) < 0).toBe(isFree);
        if (isFree) expect(Buffer.compare(key, freeFrom(address, true)) >= 0).toBe(isBegun);
        if (isFree) expect(Buffer.compare(key, freeFrom(address, isBegun, mixOf(placed.shard))) >= 0).toBe(true);
      }),
    );
  });

  test("parked and split shards are under their status, and done shards have no entry", () => {
    const made = { shard: ShardId.fromRaw(1n), lease: undefined, cursor: Cursor.initial() };
    expect(entryKey(address, { ...made, status: "Done" })).toBeUndefined();
    for (const set of ["Parked", "Split"] as const) {
      const prefix = statusPrefix(address, set);
      expect(
        entryKey(address, { ...made, status: set })!
          .subarray(0, prefix.length)
          .equals(prefix),
      ).toBe(true);
    }
  });
});

test("the hashes of neighboring ids are spread over the whole range, roots and children alike", () => {
  const ids = Array.from({ length: 4096 }, (_, index) => BigInt(index));
  for (const base of [0n, 1n << 63n]) {
    const quarters = [0, 0, 0, 0];
    const mixes = ids.map((index) => mixOf(ShardId.fromRaw(base | index)));
    for (const mix of mixes) quarters[mix >>> 30]! += 1;
    expect(new Set(mixes).size).toBeGreaterThan(4090);
    expect(Math.min(...quarters)).toBeGreaterThan(900);
  }
});
