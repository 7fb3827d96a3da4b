import { ShardSpec, ShardStatus } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { findShardFault } from "../../../records/shard-fault.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import type { ShardPlace, Violation } from "./violation.ts";

export function placeOf({ tenant, run, shard }: ShardRecord): ShardPlace {
  return { tenant, run, shard };
}

/** What must hold of a record by itself: S4 and S6. */
export function checkShardState(record: ShardRecord): Violation[] {
  const found: Violation[] = [];
  const { lastKey } = record.cursor;
  // Asked for here and not left to the record's own check, which a bug in it would blind.
  if (lastKey !== undefined && !ShardSpec.containsKey(record.spec, lastKey)) {
    found.push({ kind: "CursorOutOfBounds", ...placeOf(record) });
  }
  const message = findShardFault(record);
  if (message !== undefined) found.push({ kind: "RecordInvariant", ...placeOf(record), message });
  return found;
}

/**
 * What must hold between two states of a record, the earlier first: S2, S3, S5, and that
 * its own time does not go back. There may have been others in between.
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
  return [{ kind: "FenceMonotonicity", ...placeOf(after), prev: before.fenceEpoch, current: after.fenceEpoch }];
}

function checkStatus(before: ShardRecord, after: ShardRecord): Violation[] {
  if (after.status === before.status || !ShardStatus.isTerminal(before.status)) return [];
  if (before.status !== "Parked") {
    return [{ kind: "TerminalIrreversibility", ...placeOf(after), was: before.status, now: after.status }];
  }
  // Whatever it is by now, it was active in between. A fence that went down is told of as that.
  if (after.fenceEpoch !== before.fenceEpoch) return [];
  const fences = { fenceAtPark: before.fenceEpoch, fenceAtUnpark: after.fenceEpoch };
  return [{ kind: "UnparkWithoutFenceBump", ...placeOf(after), ...fences }];
}

function checkCursor(before: ShardRecord, after: ShardRecord): Violation[] {
  const prev = before.cursor.lastKey;
  const current = after.cursor.lastKey;
  if (prev === undefined || (current !== undefined && compareBytes(current, prev) >= 0)) return [];
  return [{ kind: "CursorMonotonicity", ...placeOf(after), prevSize: prev.length, currentSize: current?.length }];
}

function checkTime(before: ShardRecord, after: ShardRecord): Violation[] {
  if (after.lastTime >= before.lastTime) return [];
  return [{ kind: "TimeRegression", ...placeOf(after), prev: before.lastTime, current: after.lastTime }];
}
