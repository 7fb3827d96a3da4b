import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { readU64 } from "./u64-bytes.ts";

/** What a statement tells of a run's capacity. */
export interface HintRow {
  readonly available: number;
  readonly earliest: Buffer | null;
  readonly starved_until: Buffer | null;
}

export function hintOf(row: HintRow, now: LogicalTime): CapacityHint {
  return {
    availableCount: row.available,
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
