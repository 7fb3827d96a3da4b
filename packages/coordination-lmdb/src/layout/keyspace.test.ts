// Keys are on disks. A kind that changes its number loses every row of it, and a key that sorts differently from its values gives
// ranges that leave some out.

import { RunId, ShardId, TenantId, U64_MAX } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunAddress } from "@gossip/store-kit";
import {
  addressOf,
  endOf,
  keyAfter,
  lastU64,
  RowKind,
  runKey,
  shardRecordKey,
  tenantKey,
  tenantOf,
} from "./keyspace.ts";

const u64 = fc.oneof(
  fc.constantFrom(0n, 1n, 255n, 256n, 1n << 63n, U64_MAX - 1n, U64_MAX),
  fc.bigInt({ min: 0n, max: U64_MAX }),
);
const tenant = fc.constantFrom(0x00, 0x01, 0x7f, 0xff).map((byte) => TenantId.fromBytes(new Uint8Array(32).fill(byte)));
const address = fc.record<RunAddress>({ tenant, run: u64.map((raw) => RunId.fromRaw(raw)) });
const shard = u64.map((raw) => ShardId.fromRaw(raw));
const denseKey = fc
  .array(fc.constantFrom(0x00, 0x01, 0xfe, 0xff), { minLength: 1, maxLength: 4 })
  .map((bytes) => Buffer.from([0x20, ...bytes]));

test("the numbers of the kinds of rows never change", () => {
  // Did this fail? Do not mend it by changing a number here: give what is new a number of its own, and think of the stores
  // that an older version of this package will open, and of what must remove the new rows with their run.
  expect(RowKind).toEqual({
    Format: 0x01,
    TotalCount: 0x02,
    TenantCount: 0x03,
    Counted: 0x04,
    RunHead: 0x10,
    RunRecord: 0x11,
    RunCount: 0x12,
    Starved: 0x13,
    DeletedRun: 0x14,
    Unswept: 0x15,
    Census: 0x16,
    StatusCount: 0x17,
    ShardRecord: 0x20,
    Claim: 0x30,
    Status: 0x31,
    Order: 0x32,
    Note: 0x40,
  });
});

describe("keys of records", () => {
  test("sort by tenant, then run, then shard", () => {
    fc.assert(
      fc.property(address, shard, address, shard, (a, shardA, b, shardB) => {
        const order = compare([a.tenant, a.run, shardA], [b.tenant, b.run, shardB]);
        expect(Buffer.compare(shardRecordKey(a, shardA), shardRecordKey(b, shardB))).toBe(order);
      }),
    );
  });

  test("contain their tenant and run", () => {
    fc.assert(
      fc.property(address, shard, (of, id) => {
        const key = shardRecordKey(of, id);
        expect(addressOf(key)).toEqual(of);
        expect(tenantOf(key)).toBe(of.tenant);
        expect(lastU64(key)).toBe(id);
      }),
    );
  });

  test.each([
    ["a tenant that is none", () => tenantKey(RowKind.RunHead, "acme" as TenantId)],
    ["a run that is negative", () => runKey(RowKind.RunHead, { tenant: TenantId.ZERO, run: -1n as RunId })],
    ["a run that is too large", () => runKey(RowKind.RunHead, { tenant: TenantId.ZERO, run: (U64_MAX + 1n) as RunId })],
    [
      "a shard that is no bigint",
      () => shardRecordKey({ tenant: TenantId.ZERO, run: RunId.fromRaw(1n) }, 7 as unknown as ShardId),
    ],
  ])("%s throws", (_what, make) => {
    expect(make).toThrow(InvariantViolation);
  });
});

test("[prefix, end) contains exactly the keys with the prefix", () => {
  fc.assert(
    fc.property(denseKey, denseKey, (prefix, key) => {
      const isInside = Buffer.compare(prefix, key) <= 0 && Buffer.compare(key, endOf(prefix)) < 0;
      expect(isInside).toBe(key.subarray(0, prefix.length).equals(prefix));
    }),
  );
});

test("nothing lies between a key and the one after it", () => {
  fc.assert(
    fc.property(denseKey, denseKey, (key, other) => {
      expect(Buffer.compare(other, key) > 0).toBe(Buffer.compare(other, keyAfter(key)) >= 0);
    }),
  );
});

function compare(a: readonly (string | bigint)[], b: readonly (string | bigint)[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at === -1) return 0;
  return a[at]! < b[at]! ? -1 : 1;
}
