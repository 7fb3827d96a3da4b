import type { ShardSpecRef } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";

/**
 * Whether a key lies in a spec's range: start included, end excluded, an empty bound being none.
 *
 * Like `ShardSpec.containsKey`, but without checking its arguments. The check is a good part of the cost, and a
 * checkpoint calls this twice.
 */
export function isInRange(key: Uint8Array, { keyRangeStart, keyRangeEnd }: ShardSpecRef): boolean {
  if (compareBytes(key, keyRangeStart) < 0) return false;
  return keyRangeEnd.length === 0 || compareBytes(key, keyRangeEnd) < 0;
}
