// The limits were chosen one by one, and some only make sense together. Raising one past another would not
// fail where it was raised: it would fail in a store that can no longer keep what a validator let through.
import { describe, expect, test } from "vitest";
import * as limits from "./limits.ts";

describe("limits", () => {
  test("are the ones that the protocol was written down with", () => {
    expect({ ...limits }).toEqual({
      MAX_KEY_SIZE: 4096,
      MAX_TOKEN_SIZE: 16_384,
      MAX_METADATA_SIZE: 16_384,
      MAX_INITIAL_SHARDS: 10_000,
      MAX_SPLIT_CHILDREN: 256,
      MAX_SPAWNED_PER_SHARD: 1024,
      SHARD_OP_LOG_CAP: 16,
      RUN_OP_LOG_CAP: 8,
      MAX_BUILDER_ENTRIES: 1024,
      MAX_ARENA_SLOTS: 1_048_576,
      DEFAULT_MAX_SHARDS_PER_TENANT: 100_000,
      DEFAULT_MAX_SHARDS_TOTAL: 1_000_000,
      TENANT_ID_SIZE: 32,
      DERIVED_SHARD_BIT: 1n << 63n,
    });
  });

  test("a shard can afford its largest split, and more than one", () => {
    expect(2 * limits.MAX_SPLIT_CHILDREN).toBeLessThanOrEqual(limits.MAX_SPAWNED_PER_SHARD);
  });

  test("a builder holds its largest bulk split, and never more than a manifest takes", () => {
    expect(limits.MAX_SPLIT_CHILDREN).toBeLessThanOrEqual(limits.MAX_BUILDER_ENTRIES);
    expect(limits.MAX_BUILDER_ENTRIES).toBeLessThanOrEqual(limits.MAX_INITIAL_SHARDS);
  });

  test("a full manifest fits in a tenant's quota, and a tenant's quota in the coordinator's", () => {
    expect(limits.MAX_INITIAL_SHARDS).toBeLessThanOrEqual(limits.DEFAULT_MAX_SHARDS_PER_TENANT);
    expect(limits.DEFAULT_MAX_SHARDS_PER_TENANT).toBeLessThanOrEqual(limits.DEFAULT_MAX_SHARDS_TOTAL);
  });

  test("an arena can hold every shard that a coordinator may", () => {
    expect(limits.DEFAULT_MAX_SHARDS_TOTAL).toBeLessThanOrEqual(limits.MAX_ARENA_SLOTS);
  });

  test("a key fits in the metadata, so that a hint can name a prefix of any length", () => {
    expect(limits.MAX_KEY_SIZE).toBeLessThan(limits.MAX_METADATA_SIZE);
  });

  test("the index of a spawned shard fits in the 32 bits that its id is derived from", () => {
    expect(limits.MAX_SPAWNED_PER_SHARD).toBeLessThan(2 ** 32);
  });

  test("op logs are rings, so their capacities are powers of two", () => {
    for (const cap of [limits.SHARD_OP_LOG_CAP, limits.RUN_OP_LOG_CAP]) expect(Math.log2(cap) % 1).toBe(0);
  });
});
