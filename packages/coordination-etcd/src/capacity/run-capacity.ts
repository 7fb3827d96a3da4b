import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";

/** A run's capacity as read for one time, with what is needed to derive it for later times. */
export interface RunCapacity {
  readonly askedFor: LogicalTime;
  /** Shards without a lease, and shards whose lease had expired. */
  readonly availableCount: number;
  /** The earliest deadline of the leases that were valid. */
  readonly earliestDeadline: LogicalTime | undefined;
  readonly starvedUntil: LogicalTime | undefined;
}

/**
 * Whether a capacity is also valid at another time, provided nothing is written.
 *
 * It ends with the first deadline: one more shard becomes claimable, and the next deadline was not read. It does not
 * reach back before `askedFor`, because leases that had expired earlier cannot be distinguished from those that expired
 * then.
 */
export function isGoodAt({ askedFor, earliestDeadline }: RunCapacity, now: LogicalTime): boolean {
  return now >= askedFor && (earliestDeadline === undefined || now < earliestDeadline);
}

/** The hint for a time at which the capacity is valid. */
export function hintAt(
  { availableCount, earliestDeadline, starvedUntil }: RunCapacity,
  now: LogicalTime,
): CapacityHint {
  return { availableCount, earliestDeadline, isStarved: starvedUntil !== undefined && now < starvedUntil };
}
