import type { ShardMarker, WorkerSession } from "@gossip/coordination";
import { compareBytes } from "@gossip/stdx";

/** The fence of a shard's first holder. */
const FIRST_FENCE = 2n;

/** A shard whose last holders stored no progress is suspected of killing them from this acquisition on. */
export const SUSPECTED_FROM = 3;

/** Whether an earlier holder may have left a marker. */
export function mayHaveMarker({ lease: { fence } }: Pick<WorkerSession, "lease">): boolean {
  return fence > FIRST_FENCE;
}

/** Whether the last holders stored no progress: they crashed, or were killed, or lost their leases. */
export function isSuspected({ attempts }: Pick<WorkerSession, "attempts">): boolean {
  return attempts >= SUSPECTED_FROM;
}

/**
 * The item that an earlier holder died of, according to the marker that it left. `undefined` if the marker says nothing:
 * the item is done, belongs to another shard by now, or this very process left the marker and is alive.
 */
export function crashedItem(
  marker: ShardMarker | undefined,
  { lease, cursor, spec }: Pick<WorkerSession, "lease" | "cursor" | "spec">,
): Uint8Array | undefined {
  if (marker === undefined || marker.fence >= lease.fence || marker.worker === lease.owner) return undefined;
  const { item } = marker;
  const isDone = cursor.lastKey !== undefined && compareBytes(item, cursor.lastKey) <= 0;
  const isAbove = spec.keyRangeEnd.length > 0 && compareBytes(item, spec.keyRangeEnd) >= 0;
  return isDone || isAbove || compareBytes(item, spec.keyRangeStart) < 0 ? undefined : item;
}

/** Why an item is set aside: the process of an earlier holder ended while it worked on it. */
export class ItemCrashed extends Error {
  override readonly name = "ItemCrashed";

  constructor() {
    super("the process ended while it worked on this item, again and again");
  }
}
