import type { Lease } from "@gossip/coordination";

/** The bits of the fence that order holds of one shard within a millisecond. */
const FENCE_BITS = 20n;
const FENCE_MASK = (1n << FENCE_BITS) - 1n;

/**
 * A number that grows with every later holder of a key, whichever shard the key belonged to at the time.
 *
 * A fence does not: it counts the holders of one shard, and a shard created by a split starts over. The start time of
 * the hold does: a shard inherits the time of the split from its parent, and the time of a record never goes back, even
 * if clocks differ. So the number is that time in milliseconds, followed by the fence to order holds of one shard
 * within a millisecond. It fits in a signed 64-bit integer until the year 2248.
 *
 * A worker that lost its lease always has a smaller number than its successors. If a hold was released in the same
 * millisecond in which the next one split the shard, the order is undefined; but a worker that released its shard has
 * nothing left to write.
 */
export function writeFenceOf({ deadline, fence }: Pick<Lease, "deadline" | "fence">, leaseDuration: bigint): bigint {
  return ((deadline - leaseDuration) << FENCE_BITS) | (fence & FENCE_MASK);
}
