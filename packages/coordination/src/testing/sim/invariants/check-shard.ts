import { ShardSpec, ShardStatus } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { findShardFault } from "../../../records/shard-fault.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import type { ShardAddress, Violation } from "./violation.ts";

export function addressOf({ tenant, run, shard }: ShardRecord): ShardAddress {
  return { tenant, run, shard };
}

/** What must hold of a record by itself: S4 and S6. */
export function checkShardState(record: ShardRecord): Violation[] {
  const found: Violation[] = [];
  const { lastKey } = record.cursor;
  // Checked here too: the record's own check may have a bug.
  if (lastKey !== undefined && !ShardSpec.containsKey(record.spec, lastKey)) {
    found.push({ kind: "CursorOutOfBounds", ...addressOf(record) });
  }
  const message = findShardFault(record);
  if (message !== undefined) found.push({ kind: "RecordInvariant", ...addressOf(record), message });
  return found;
}

/**
 * What must hold between two states of a record, the earlier first: S2, S3, S5, and that its time does not go back. There
 * may have been other states in between.
 */
export function checkShardStep(before: ShardRecord, after: ShardRecord): Violation[] {
  if (before === after) return [];
  return [
    ...checkFence(before, after),
    ...checkStatus(before, after),
    ...checkCursor(before, after),
    ...checkTime(before, after),
  ];
}

function checkFence(before: ShardRecord, after: ShardRecord): Violation[] {
  if (after.fenceEpoch >= before.fenceEpoch) return [];
  return [{ kind: "FenceMonotonicity", ...addressOf(after), prev: before.fenceEpoch, current: after.fenceEpoch }];
}

function checkStatus(before: ShardRecord, after: ShardRecord): Violation[] {
  if (after.status === before.status || !ShardStatus.isTerminal(before.status)) return [];
  if (before.status !== "Parked") {
    return [{ kind: "TerminalIrreversibility", ...addressOf(after), was: before.status, now: after.status }];
  }
  // Whatever its state is now, it was active in between. A fence that decreased is reported as such.
  if (after.fenceEpoch !== before.fenceEpoch) return [];
  const fences = { fenceAtPark: before.fenceEpoch, fenceAtUnpark: after.fenceEpoch };
  return [{ kind: "UnparkWithoutFenceBump", ...addressOf(after), ...fences }];
}

function checkCursor(before: ShardRecord, after: ShardRecord): Violation[] {
  const prev = before.cursor.lastKey;
  const current = after.cursor.lastKey;
  if (prev === undefined || (current !== undefined && compareBytes(current, prev) >= 0)) return [];
  return [{ kind: "CursorMonotonicity", ...addressOf(after), prevSize: prev.length, currentSize: current?.length }];
}

function checkTime(before: ShardRecord, after: ShardRecord): Violation[] {
  if (after.lastTime >= before.lastTime) return [];
  return [{ kind: "TimeRegression", ...addressOf(after), prev: before.lastTime, current: after.lastTime }];
}
