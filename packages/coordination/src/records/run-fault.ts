import { RUN_OP_LOG_CAP, RunId, RunStatus } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { hasDuplicateOp, isLogInOrder } from "./op-log.ts";
import { RunConfig } from "./run-config.ts";
import type { RunRecord } from "./run-record.ts";

/**
 * What is wrong with a run's record, in words, or `undefined`. The first broken
 * rule decides:
 *
 *  1. shards where active
 *  2. an end exactly where terminal
 *  3. a time of creation
 *  4. no shards where initializing
 *  5. an end that is not before the creation
 *  6. at most 8 logged operations
 *  7. no op id logged twice
 *  8. a valid configuration
 *  9. no root shard twice
 * 10. logged times that do not go back
 * 11. shards as the answer of a registration, an ack as that of all else
 *
 * and, beyond the original's, 12: a last time that nothing else is above.
 */
export function findRunFault(record: RunRecord): string | undefined {
  return findLifeFault(record) ?? findLogFault(record);
}

/** Throws unless the record is valid. Runs after every transition, before anything is written. */
export function assertRunRecord(record: RunRecord): void {
  const fault = findRunFault(record);
  assert(fault === undefined, () => `run ${RunId.format(record.run)} is not in order: ${fault}`);
}

function findLifeFault({ status, rootShards, completedAt, createdAt }: RunRecord): string | undefined {
  if (status === "Active" && rootShards.length === 0) return "an active run must have shards";
  if ((completedAt !== undefined) !== RunStatus.isTerminal(status))
    return "an end must be there exactly where it is terminal";
  if (createdAt <= 0n) return "the time of creation must be set";
  if (status === "Initializing" && rootShards.length > 0) return "an initializing run must have no shards";
  if (completedAt !== undefined && completedAt < createdAt) return "it must not end before it was created";
  return undefined;
}

function findLogFault({ config, rootShards, opLog, lastTime, createdAt, completedAt }: RunRecord): string | undefined {
  if (opLog.length > RUN_OP_LOG_CAP) return `at most ${RUN_OP_LOG_CAP} operations may be logged, got ${opLog.length}`;
  if (hasDuplicateOp(opLog)) return "no op id may be logged twice";
  if (!RunConfig.tryNew(config).ok) return "the configuration must be valid";
  if (new Set(rootShards).size !== rootShards.length) return "no root shard may be there twice";
  if (!isLogInOrder(opLog)) return "logged times must not go back";
  if (opLog.some(({ kind, result }) => (kind === "RegisterShards") !== (result.kind === "RegisteredShards"))) {
    return "a registration, and nothing else, must answer with shards";
  }
  const times = [createdAt, completedAt ?? createdAt, opLog.at(-1)?.executedAt ?? createdAt];
  return times.every((time) => time <= lastTime) ? undefined : "nothing may happen after the last time";
}
