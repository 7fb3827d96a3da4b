import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import { MAX_COUNTED } from "../sql/hint-columns.ts";
import { readU64 } from "../layout/u64-bytes.ts";

/** What a statement tells of a run's capacity at a time. */
export interface HintRow {
  /** Leases that have lapsed. */
  readonly lapsed: number;
  readonly earliest: Buffer | null;
  readonly starved_until: Buffer | null;
}

/** What there is of a run at one time, and until when somebody waits for more. */
export interface Capacity {
  readonly availableCount: number;
  readonly earliestDeadline: LogicalTime | undefined;
  readonly starvedUntil: LogicalTime | undefined;
}

/** `free`: shards that nobody has a lease on. */
export function capacityOf({ lapsed, earliest, starved_until: starvedUntil }: HintRow, free: number): Capacity {
  return {
    availableCount: Math.min(MAX_COUNTED, free + lapsed),
    earliestDeadline: timeIn(earliest),
    starvedUntil: timeIn(starvedUntil),
  };
}

export function hintOf(row: HintRow, free: number, now: LogicalTime): CapacityHint {
  const { availableCount, earliestDeadline, starvedUntil } = capacityOf(row, free);
  return { availableCount, earliestDeadline, isStarved: starvedUntil !== undefined && now < starvedUntil };
}

function timeIn(bytes: Buffer | null): LogicalTime | undefined {
  return bytes === null ? undefined : (readU64(bytes) as LogicalTime);
}

/** A hint that was made without some shards of its run, with them. */
export function hintWith(hint: CapacityHint, shards: readonly ShardRecord[], now: LogicalTime): CapacityHint {
  let { availableCount, earliestDeadline } = hint;
  for (const { status, lease } of shards) {
    if (status !== "Active") continue;
    if (lease === undefined || lease.deadline <= now) availableCount++;
    else if (earliestDeadline === undefined || lease.deadline < earliestDeadline) earliestDeadline = lease.deadline;
  }
  return { availableCount: Math.min(MAX_COUNTED, availableCount), earliestDeadline, isStarved: hint.isStarved };
}
