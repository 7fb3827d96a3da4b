import type { LoggedOp, OpLog, RunRecord, ShardRecord } from "@gossip/coordination";
import { findRunFault, findShardFault } from "@gossip/coordination/internal";

/**
 * Describes what is wrong with a shard's record, or returns `undefined`.
 *
 * Beyond the rules of the record, it checks what no operation of the kernel can break: nothing is spawned twice, and
 * every logged operation has a hash and a time.
 */
export function findStoredShardFault(record: ShardRecord): string | undefined {
  if (hasDuplicate(record.spawned)) return "no shard may be spawned twice";
  return findEntryFault(record.opLog) ?? findShardFault(record);
}

/** As `findStoredShardFault`. */
export function findStoredRunFault(record: RunRecord): string | undefined {
  return findEntryFault(record.opLog) ?? findRunFault(record);
}

function hasDuplicate(ids: readonly bigint[]): boolean {
  // Nearly every shard has spawned nothing, and then no set is made.
  return ids.length > 1 && new Set(ids).size !== ids.length;
}

function findEntryFault(log: OpLog<LoggedOp>): string | undefined {
  for (let index = 0; index < log.length; index++) {
    const { payloadHash, executedAt } = log[index]!;
    if (payloadHash === 0n) return "no logged payload hash may be zero";
    if (executedAt === 0n) return "no logged time may be zero";
  }
  return undefined;
}
