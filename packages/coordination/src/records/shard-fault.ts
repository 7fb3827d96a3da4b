import { FenceEpoch, MAX_SPAWNED_PER_SHARD, SHARD_OP_LOG_CAP, ShardId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { isInRange } from "./is-in-range.ts";
import { firstUnknown, hasDuplicateOp, isLogInOrder } from "./op-log.ts";
import type { ShardRecord } from "./shard-record.ts";

/**
 * What is wrong with a shard's record, in words, or `undefined`. The first broken
 * rule decides:
 *
 *  1. a park reason exactly where parked
 *  2. an owner exactly if there is a deadline: the type ensures it
 *  3. no lease where terminal
 *  4. a fence of at least 1
 *  5. at most 16 logged operations
 *  6. something spawned where split
 *  7. a parent exactly if the id is derived
 *  8. nothing spawned whose id is not derived
 *  9. no op id logged twice
 * 10. at most 1,024 shards spawned
 *
 * and, beyond the original's:
 *
 * 11. a last time, a lease that ends after it, and nothing logged after it
 * 12. logged times that do not go back
 * 13. the cursor's key within the range
 *
 * `known` is a record that was found in order before. What the two share is not checked again, so a small change costs
 * a small check.
 */
export function findShardFault(record: ShardRecord, known?: ShardRecord): string | undefined {
  const first = firstUnknown(record.opLog, known?.opLog);
  return (
    findStateFault(record) ??
    findListFault(record, known, first) ??
    findTimeFault(record, first) ??
    findCursorFault(record, known)
  );
}

/** Throws unless the record is valid. Runs after every transition, before anything is written. */
export function assertShardRecord(record: ShardRecord, known?: ShardRecord): void {
  const fault = findShardFault(record, known);
  assert(fault === undefined, () => `shard ${ShardId.format(record.shard)} is not in order: ${fault}`);
}

function findStateFault({
  status,
  parkReason,
  lease,
  fenceEpoch,
  opLog,
  spawned,
  parent,
  shard,
}: ShardRecord): string | undefined {
  if ((parkReason !== undefined) !== (status === "Parked"))
    return "a park reason must be there exactly where it is parked";
  if (status !== "Active" && lease !== undefined) return "a terminal shard must have no lease";
  if (fenceEpoch < FenceEpoch.INITIAL) return "the fence must be at least 1";
  if (opLog.length > SHARD_OP_LOG_CAP)
    return `at most ${SHARD_OP_LOG_CAP} operations may be logged, got ${opLog.length}`;
  if (status === "Split" && spawned.length === 0) return "a split shard must have spawned something";
  if ((parent !== undefined) !== ShardId.isDerived(shard))
    return "a parent must be there exactly where the id is derived";
  return undefined;
}

function findListFault(record: ShardRecord, known: ShardRecord | undefined, first: number): string | undefined {
  const { spawned } = record;
  if (spawned !== known?.spawned && !spawned.every((id) => ShardId.isDerived(id)))
    return "everything spawned must have a derived id";
  if (hasDuplicateOp(record.opLog, first)) return "no op id may be logged twice";
  if (spawned.length > MAX_SPAWNED_PER_SHARD)
    return `at most ${MAX_SPAWNED_PER_SHARD} shards may be spawned, got ${spawned.length}`;
  return undefined;
}

function findTimeFault({ lastTime, lease, opLog }: ShardRecord, first: number): string | undefined {
  if (lastTime <= 0n) return "the last time must be set";
  if (lease !== undefined && lease.deadline <= lastTime) return "a lease must end after the last time";
  const newest = opLog.at(-1);
  if (newest !== undefined && newest.executedAt > lastTime) return "nothing may be logged after the last time";
  return isLogInOrder(opLog, first) ? undefined : "logged times must not go back";
}

function findCursorFault({ spec, cursor }: ShardRecord, known: ShardRecord | undefined): string | undefined {
  // Skips unchanged bytes: they may be borrowed from a scratch, where every access creates a view.
  if (cursor === known?.cursor && spec === known.spec) return undefined;
  const { lastKey } = cursor;
  return lastKey === undefined || isInRange(lastKey, spec) ? undefined : "the cursor's key must lie within the range";
}
