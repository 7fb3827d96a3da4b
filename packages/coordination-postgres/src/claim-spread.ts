import type { ShardId } from "@gossip/contracts";

const MASK = 0xffff_ffff_ffff_ffffn;

/**
 * Where a shard is in the claim index: 32 bits, far apart for ids that are close.
 *
 * Workers start looking at places of their own, and then find shards of all parts of the run.
 */
export function claimSpread(shard: ShardId): number {
  // The finishing step of SplitMix64: every bit of the id changes half of the bits of the result.
  let mixed = ((shard ^ (shard >> 30n)) * 0xbf58_476d_1ce4_e5b9n) & MASK;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d0_49bb_1331_11ebn) & MASK;
  return Number((mixed ^ (mixed >> 31n)) >> 32n);
}
