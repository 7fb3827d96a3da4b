// A claim finds shards by the order of their entries. A shard whose entry sorts wrongly is never claimed, or is claimed while it has a
// holder. The bounds in the statements must match the entries that are written.

import { LogicalTime, ShardId, WorkerId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import fc from "fast-check";
import { expect, test } from "vitest";
import { claimSpread } from "./claim-spread.ts";
import { freeFrom, lastAt, letterOf, claimIndexEntryOf, shardIn } from "./claim-index-entry.ts";
import {
  ACTIVE_FROM,
  ACTIVE_TO,
  FREE_TO,
  PARKED_FROM,
  PARKED_TO,
  SPLIT_FROM,
  SPLIT_TO,
} from "../sql/claim-index-bytes.ts";

const U64_MAX = 2n ** 64n - 1n;
const u64 = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 255n, 256n, 2n ** 63n, U64_MAX - 1n, U64_MAX),
  fc.bigInt({ min: 0n, max: U64_MAX }),
);
const deadline = fc.option(
  u64.filter((raw) => raw > 0n).map((raw) => LogicalTime.fromRaw(raw)),
  { nil: undefined },
);

const shards = fc
  .record({ status: fc.constantFrom("Active", "Parked", "Split" as const), shard: u64, deadline })
  .map(({ status, shard, deadline: end }) => {
    // Only an active shard has a holder.
    const lease = status === "Active" && end !== undefined ? { owner: WorkerId.fromRaw(1n), deadline: end } : undefined;
    return { status, shard: ShardId.fromRaw(shard), lease } as ShardRecord;
  });

const bytesIn = (sql: string): Buffer => Buffer.from(/'\\x([0-9a-f]+)'/.exec(sql)![1]!, "hex");
const isBetween = (from: Buffer, entry: Buffer, to: Buffer): boolean =>
  Buffer.compare(from, entry) <= 0 && Buffer.compare(entry, to) < 0;

const partsOf = ({ status, lease, shard }: ShardRecord): readonly (string | bigint)[] => [
  status,
  lease?.deadline ?? 0n,
  BigInt(claimSpread(shard)),
  shard,
];

function order(a: ShardRecord, b: ShardRecord): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const differing = left.findIndex((part, index) => part !== right[index]);
  return differing < 0 ? 0 : left[differing]! < right[differing]! ? -1 : 1;
}

test("entries sort by status, claimable time, spread and shard, and name their shard", () => {
  fc.assert(
    fc.property(shards, shards, (a, b) => {
      expect(Buffer.compare(claimIndexEntryOf(a)!, claimIndexEntryOf(b)!)).toBe(order(a, b));
      expect(shardIn(claimIndexEntryOf(a)!)).toBe(a.shard);
    }),
    { numRuns: 2000 },
  );
});

test("the bounds in the statements are those of each status and of shards without a lease", () => {
  const bounds = {
    Active: [ACTIVE_FROM, ACTIVE_TO],
    Parked: [PARKED_FROM, PARKED_TO],
    Split: [SPLIT_FROM, SPLIT_TO],
  } as const;
  fc.assert(
    fc.property(shards, (shard) => {
      const entry = claimIndexEntryOf(shard)!;
      for (const [status, [from, to]] of Object.entries(bounds))
        expect(isBetween(bytesIn(from), entry, bytesIn(to))).toBe(status === shard.status);
      expect(isBetween(bytesIn(ACTIVE_FROM), entry, bytesIn(FREE_TO))).toBe(
        shard.status === "Active" && shard.lease === undefined,
      );
      expect(letterOf(shard.status)).toEqual(entry.subarray(0, 1));
    }),
  );
});

test("the last claimable entry bounds what can be claimed at a time, and a spread bounds what has it or more", () => {
  fc.assert(
    fc.property(shards, u64, fc.nat({ max: 2 ** 32 - 1 }), (shard, now, spread) => {
      const entry = claimIndexEntryOf(shard)!;
      const isActive = shard.status === "Active";
      expect(
        isBetween(bytesIn(ACTIVE_FROM), entry, Buffer.concat([lastAt(LogicalTime.fromRaw(now)), Buffer.of(0)])),
      ).toBe(isActive && (shard.lease?.deadline ?? 0n) <= now);
      const isFree = isActive && shard.lease === undefined;
      for (const from of [spread, claimSpread(shard.shard)])
        expect(isBetween(freeFrom(from), entry, bytesIn(FREE_TO))).toBe(isFree && claimSpread(shard.shard) >= from);
    }),
    { numRuns: 2000 },
  );
});

test("a finished shard has no entry", () => {
  expect(
    claimIndexEntryOf({ status: "Done", shard: ShardId.fromRaw(1n), lease: undefined } as ShardRecord),
  ).toBeUndefined();
});
