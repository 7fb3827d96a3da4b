import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { readU64 } from "./u64-bytes.ts";

/** What a statement tells of a run's capacity at a time. */
export interface HintRow {
  /** Leases that have lapsed. */
  readonly lapsed: number;
  readonly earliest: Buffer | null;
  readonly starved_until: Buffer | null;
}

/** Counting stops here: more is no news to anybody. */
const MOST_AVAILABLE = 1000;

/** `free`: shards that nobody has a lease on. */
export function hintOf(row: HintRow, free: number, now: LogicalTime): CapacityHint {
  return {
    availableCount: Math.min(MOST_AVAILABLE, free + row.lapsed),
    earliestDeadline: row.earliest === null ? undefined : (readU64(row.earliest) as LogicalTime),
    isStarved: row.starved_until !== null && now < readU64(row.starved_until),
  };
}

/** A hint that was made without some shards of its run, with them. */
export function hintWith(hint: CapacityHint, shards: readonly ShardRecord[], now: LogicalTime): CapacityHint {
  let { availableCount, earliestDeadline } = hint;
  for (const { status, lease } of shards) {
    if (status !== "Active") continue;
    if (lease === undefined || lease.deadline <= now) availableCount++;
    else if (earliestDeadline === undefined || lease.deadline < earliestDeadline) earliestDeadline = lease.deadline;
  }
  return { availableCount, earliestDeadline, isStarved: hint.isStarved };
}
