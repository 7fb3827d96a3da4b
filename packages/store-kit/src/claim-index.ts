import type { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";

/** The fields of a shard that decide where its claim index entry is. */
export type IndexedShard = Pick<ShardRecord, "status" | "lease" | "cursor">;

/**
 * Returns whether a write moves the shard's entry in an index that is ordered by status and lease deadline and that
 * separates free shards with progress from free shards without.
 *
 * Most writes move nothing: a checkpoint changes neither the status nor the lease.
 */
export function hasEntryMoved(before: IndexedShard, after: IndexedShard): boolean {
  if (before.status !== after.status) return true;
  if (before.status !== "Active") return false;
  return (
    before.lease?.deadline !== after.lease?.deadline ||
    (after.lease === undefined && hasProgress(before) !== hasProgress(after))
  );
}

/**
 * Hashes a shard's id to 32 bits that depend on every bit of the id.
 *
 * Store free shards in the order of this number. Neighbors in the index then come from all parts of the run, and
 * `ClaimQuery.spread` selects a starting point. The result is stored, so it never changes.
 */
export function mixOf(shard: ShardId): number {
  let mix = Number(shard & 0xffff_ffffn) ^ Math.imul(Number(shard >> 32n), 0x9e37_79b1);
  mix = Math.imul(mix ^ (mix >>> 16), 0x85eb_ca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2_ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

function hasProgress({ cursor }: IndexedShard): boolean {
  return cursor.lastKey !== undefined;
}
