import { LogicalTime, type OpId } from "@gossip/contracts";
import type { LoggedOp, OpLog, RunRecord, ShardRecord } from "@gossip/coordination";

/**
 * The op id of a lease that version 1 wrote, which did not store it.
 *
 * A caller may use zero as an op id. The worst outcome is that the holder of the lease gets the same lease again.
 */
export const UNKNOWN_OP = 0n as OpId;

/** The earliest time there is. */
const FIRST_TIME = 1n as LogicalTime;

/**
 * Adds what version 1 did not store to a shard's record.
 *
 * - The last time is that of the newest logged operation: the record was written then or later. Without one it is the
 *   first time there is, and the next write corrects it.
 * - No attempts: a shard is not parked for acquisitions that were not counted.
 * - A lease that had expired by the last time is dropped. Clocks could go back in that version, so such a lease is not
 *   damage, and it is not valid for any worker.
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
