import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";

/** What a look told of a run's capacity at one time, and what of it is good for later ones. */
export interface RunCapacity {
  readonly askedFor: LogicalTime;
  /** Those that nobody held then, and those whose lease had lapsed. */
  readonly availableCount: number;
  /** When the first of the leases ends that held then. */
  readonly earliestDeadline: LogicalTime | undefined;
  readonly starvedUntil: LogicalTime | undefined;
}

/**
 * Whether a capacity tells of another time as well, as long as nothing is written.
 *
 * With the first lease that lapses there is one more to claim, and which ends after it nobody asked. What had lapsed before the time that
 * was asked for is not told apart from what lapsed at it.
 */
export function isGoodAt({ askedFor, earliestDeadline }: RunCapacity, now: LogicalTime): boolean {
  return now >= askedFor && (earliestDeadline === undefined || now < earliestDeadline);
}

/** The hint of a time at which a capacity is good. */
export function hintAt(
  { availableCount, earliestDeadline, starvedUntil }: RunCapacity,
  now: LogicalTime,
): CapacityHint {
  return { availableCount, earliestDeadline, isStarved: starvedUntil !== undefined && now < starvedUntil };
}
