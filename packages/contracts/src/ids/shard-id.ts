import type { Brand } from "@gossip/stdx";
import { DERIVED_SHARD_BIT } from "../limits.ts";
import { u64Companion } from "./u64-companion.ts";
import { assertU64 } from "./u64.ts";

/**
 * Identifies a shard within its run. An unsigned 64-bit integer.
 *
 * Callers number the root shards of a manifest, from 0 if they like, and leave bit 63 clear. Splits derive the ids of
 * new shards by hash, and set it.
 */
export type ShardId = Brand<bigint, "ShardId">;

export const ShardId = {
  .../* @__PURE__ */ u64Companion<ShardId>("shard id"),

  /** Whether a split created this shard. */
  isDerived(id: ShardId): boolean {
    assertU64(id, "shard id");
    return id >= DERIVED_SHARD_BIT;
  },
} as const;
