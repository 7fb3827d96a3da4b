import { RunStatus, type ShardStatus } from "@gossip/contracts";
import type { RunHead, RunRecord } from "../../../records/run-record.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import { addressOf } from "./check-shard.ts";
import type { Violation } from "./violation.ts";

/** Whether a shard was granted anew. The same acquire may be granted again once its lease has expired. */
export function isGrant(before: ShardRecord, after: ShardRecord): boolean {
  if (after.lease === undefined) return false;
  return after.lease.opId !== before.lease?.opId || after.fenceEpoch !== before.fenceEpoch;
}

/** Whether an acquire parked a shard that was tried too often. No caller requested it, so nothing is logged. */
function isParkedUnasked(before: ShardRecord, after: ShardRecord): boolean {
  return (
    before.status === "Active" && after.status === "Parked" && after.opLog.at(-1)?.opId === before.opLog.at(-1)?.opId
  );
}

/**
 * What a run allows its shards: after its end only finished work, and exactly the configured number of attempts.
 */
export function checkRunAllows(run: RunHead, before: ShardRecord, after: ShardRecord): Violation[] {
  const isGranted = isGrant(before, after);
  const isSetAside = isParkedUnasked(before, after);
  const isRenewed =
    after.lease !== undefined && before.lease !== undefined && after.lease.deadline > before.lease.deadline;
  const isSplit = after.spawned.length > before.spawned.length;
  const isUnparked = before.status === "Parked" && after.status === "Active";
  const found: Violation[] = [];
  if (RunStatus.isTerminal(run.status) && (isGranted || isSetAside || isRenewed || isSplit || isUnparked)) {
    found.push({ kind: "EndedRun", ...addressOf(after), status: run.status });
  }
  const { maxShardRetries = Infinity } = run.config;
  if ((isGranted && before.attempts > maxShardRetries) || (isSetAside && before.attempts <= maxShardRetries)) {
    found.push({ kind: "AttemptLimit", ...addressOf(after), attempts: before.attempts, max: maxShardRetries });
  }
  return found;
}

/** What must hold between two states of a run: S8, and that a run with work left is completed only by force. */
export function checkRunStep(
  before: RunRecord | undefined,
  after: RunRecord,
  statuses: Iterable<ShardStatus>,
): Violation[] {
  if (before === undefined || before.status === after.status) return [];
  const { tenant, run } = after;
  if (RunStatus.isTerminal(before.status)) {
    return [{ kind: "RunTerminalIrreversibility", tenant, run, was: before.status, now: after.status }];
  }
  const active = [...statuses].filter((status) => status === "Active").length;
  return after.status === "Done" && active > 0 ? [{ kind: "UnsettledRun", tenant, run, active }] : [];
}
