import { LogicalTime, type OpId } from "@gossip/contracts";
import type { LoggedOp, OpLog, RunRecord, ShardRecord } from "@gossip/coordination";

/**
 * Stands for the acquire of a lease that version 1 wrote: it did not keep the op id.
 *
 * Somebody may use zero as an op id. All that can come of it is that the worker that
 * holds the lease, and nobody else, gets this same lease again.
 */
export const UNKNOWN_OP = 0n as OpId;

/** The earliest time there is. */
const FIRST_TIME = 1n as LogicalTime;

/**
 * Give a shard's record of version 1 what that version did not keep.
 *
 * - The last time is that of the newest logged operation: the record was written then
 *   or later. Without one it is the first there is, and the next write sets it right.
 * - No attempts: a shard is not parked for acquisitions that nobody counted.
 * - A lease that had run out by the last time goes. Clocks of that version could run
 *   back, so such a lease is no damage, and it gives nobody a right to anything.
 */
export function completeShardV1(record: ShardRecord): ShardRecord {
  const lastTime = newestTime(record.opLog);
  return { ...record, lastTime, attempts: 0, lease: hasLapsed(record, lastTime) ? undefined : record.lease };
}

/** As for a shard: the last time is the greatest that the record names. */
export function completeRunV1(record: RunRecord): RunRecord {
  const { createdAt, completedAt = createdAt, opLog } = record;
  const lastTime = [createdAt, completedAt, newestTime(opLog)].reduce((a, b) => (a > b ? a : b));
  return { ...record, lastTime };
}

function newestTime(log: OpLog<LoggedOp>): LogicalTime {
  return log.at(-1)?.executedAt ?? FIRST_TIME;
}

/** A deadline of zero and a lease of a shard that is not active are damage, and left for the rules to find. */
function hasLapsed({ status, lease }: ShardRecord, lastTime: LogicalTime): boolean {
  return status === "Active" && lease !== undefined && lease.deadline > LogicalTime.ZERO && lease.deadline <= lastTime;
}
