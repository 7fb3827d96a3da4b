import type { Lease } from "@gossip/coordination";

/** Holds of one shard that begin within a millisecond are told apart by this much of the fence. */
const FENCE_BITS = 20n;
const FENCE_MASK = (1n << FENCE_BITS) - 1n;

/**
 * A number that is greater for every later holder of a key, whichever shard the key belonged to at the time.
 *
 * A fence cannot be that: it counts the holders of one shard, and a shard that a split made begins anew. When the
 * hold began can: a shard takes the time of the split over from its parent, and time never goes back for a
 * record, also where clocks differ. So the number is that time, in milliseconds, with the fence behind it for holds of
 * one shard within a millisecond. It fits into a signed 64-bit integer until the year 2248.
 *
 * Whoever lost a lease is always below whoever came after. A hold that was given back in the very millisecond in which the next
 * one split the shard may not be; who gives a shard back has nothing more to write.
 */
export function writeFenceOf({ deadline, fence }: Pick<Lease, "deadline" | "fence">, leaseDuration: bigint): bigint {
  return ((deadline - leaseDuration) << FENCE_BITS) | (fence & FENCE_MASK);
}
