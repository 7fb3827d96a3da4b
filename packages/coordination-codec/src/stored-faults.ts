import { validateShardSpec } from "@gossip/contracts";
import { findRunFault, findShardFault, type LoggedOp, type OpLog, type RunRecord, type ShardRecord } from "@gossip/coordination";

/**
 * What is wrong with a shard's record, in words, or `undefined`.
 *
 * Beyond the rules of the record these are checked, which nothing can break that
 * goes through the kernel: a range that holds a key, nothing spawned twice, a hash
 * and a time with every logged operation.
 */
export function findStoredShardFault(record: ShardRecord): string | undefined {
  if (!validateShardSpec(record.spec).ok) return "the range must be valid";
  if (new Set(record.spawned).size !== record.spawned.length) return "no shard may be spawned twice";
  return findEntryFault(record.opLog) ?? findShardFault(record);
}

/** As `findStoredShardFault`. */
export function findStoredRunFault(record: RunRecord): string | undefined {
  return findEntryFault(record.opLog) ?? findRunFault(record);
}

function findEntryFault(log: OpLog<LoggedOp>): string | undefined {
  if (log.some(({ payloadHash }) => payloadHash === 0n)) return "no logged payload hash may be zero";
  return log.some(({ executedAt }) => executedAt === 0n) ? "no logged time may be zero" : undefined;
}
