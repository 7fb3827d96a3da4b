import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";

/** A run's capacity as it was read for one time. */
export interface RunCapacity {
  /** The time that it was read for. */
  readonly now: LogicalTime;
  /** Active shards that no worker held then, counted up to `MAX_CLAIM_COUNT`. */
  readonly availableCount: number;
  /** The first deadline of the leases that were held then. */
  readonly earliestDeadline: LogicalTime | undefined;
  /** The mark of `markStarved`. */
  readonly starvedUntil: LogicalTime | undefined;
}

export interface RunCapacityCompanion {
  /**
   * Returns the hint for `now`, or `undefined` if the capacity does not determine it.
   *
   * A capacity also holds for later times, as long as nothing is written and the first lease has not expired. It never
   * holds for earlier times: it does not say which leases expired before it was read.
   */
  hintAt(capacity: RunCapacity, now: LogicalTime): CapacityHint | undefined;
}

export const RunCapacity: RunCapacityCompanion = {
  hintAt(capacity, now) {
    const { availableCount, earliestDeadline, starvedUntil } = capacity;
    if (now < capacity.now || (earliestDeadline !== undefined && now >= earliestDeadline)) return undefined;
    return { availableCount, earliestDeadline, isStarved: starvedUntil !== undefined && now < starvedUntil };
  },
};
