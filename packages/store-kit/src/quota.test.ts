// A quota that is checked in the wrong order, or one shard too late, lets one tenant take what belongs to another.
import { expect, test } from "vitest";
import { checkQuota } from "./quota.ts";

const counts = { tenant: 7, total: 90 };

test("shards fit up to the limit, and the tenant's quota is reported first", () => {
  expect(checkQuota(counts, 3, { maxShardsPerTenant: 10, maxShardsTotal: 93 })).toBeUndefined();
  expect(checkQuota(counts, 4, { maxShardsPerTenant: 10, maxShardsTotal: 93 })).toEqual({
    kind: "LimitExceeded",
    scope: "PerTenant",
    current: 7,
    additional: 4,
    max: 10,
  });
  expect(checkQuota(counts, 4, { maxShardsPerTenant: 11, maxShardsTotal: 93 })).toEqual({
    kind: "LimitExceeded",
    scope: "Global",
    current: 90,
    additional: 4,
    max: 93,
  });
});

test("a set that creates nothing fits even when more exists than the quota allows", () => {
  expect(checkQuota(counts, 0, { maxShardsPerTenant: 1, maxShardsTotal: 1 })).toBeUndefined();
});
