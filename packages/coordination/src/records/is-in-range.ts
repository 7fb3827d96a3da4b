import type { ShardSpecRef } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";

/**
 * Whether a key lies in a spec's range: start included, end not, an empty bound being none.
 *
 * `ShardSpec.containsKey` for a spec and a key that are known to be such. Without its looking at
 * both first, which is a good part of what it costs, and a checkpoint asks twice.
 */
export function isInRange(key: Uint8Array, { keyRangeStart, keyRangeEnd }: ShardSpecRef): boolean {
  if (compareBytes(key, keyRangeStart) < 0) return false;
  return keyRangeEnd.length === 0 || compareBytes(key, keyRangeEnd) < 0;
}
