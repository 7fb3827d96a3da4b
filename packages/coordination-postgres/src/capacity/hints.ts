import type { LogicalTime } from "@gossip/contracts";
import type { CapacityHint, ShardRecord } from "@gossip/coordination";
import type { RunCapacity } from "@gossip/store-kit";
import { MAX_COUNTED } from "../sql/hint-columns.ts";
import { readU64 } from "../layout/u64-bytes.ts";

/** The columns of a run's capacity at one time. */
export interface HintRow {
  /** Leases that have lapsed. */
  readonly lapsed: number;
  readonly earliest: Buffer | null;
  readonly starved_until: Buffer | null;
}

/** `free`: shards without a lease. */
export function capacityOf(row: HintRow, free: number, now: LogicalTime): RunCapacity {
  const { lapsed, earliest, starved_until: starvedUntil } = row;
  return {
    now,
    availableCount: Math.min(MAX_COUNTED, free + lapsed),
    earliestDeadline: timeIn(earliest),
    starvedUntil: timeIn(starvedUntil),
  };
}

export function hintOf(row: HintRow, free: number, now: LogicalTime): CapacityHint {
  const { availableCount, earliestDeadline, starvedUntil } = capacityOf(row, free, now);
  return { availableCount, earliestDeadline, isStarved: starvedUntil !== undefined && now < starvedUntil };
}

function timeIn(bytes: Buffer | null): LogicalTime | undefined {
  return bytes === null ? undefined : (readU64(bytes) as LogicalTime);
}

/** Adds shards of the run that a hint did not count. */
export function hintWith(hint: CapacityHint, shards: readonly ShardRecord[], now: LogicalTime): CapacityHint {
  let { availableCount, earliestDeadline } = hint;
  for (const { status, lease } of shards) {
    if (status !== "Active") continue;
    if (lease === undefined || lease.deadline <= now) availableCount++;
    else if (earliestDeadline === undefined || lease.deadline < earliestDeadline) earliestDeadline = lease.deadline;
  }
  return { availableCount: Math.min(MAX_COUNTED, availableCount), earliestDeadline, isStarved: hint.isStarved };
}
