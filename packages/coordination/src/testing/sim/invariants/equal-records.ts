import { Cursor, type ShardSpec } from "@gossip/contracts";
import { equalBytes } from "@gossip/stdx";
import type { LeaseHolder } from "../../../records/lease-holder.ts";
import type { RunRecord } from "../../../records/run-record.ts";
import type { OpLogEntry, ShardRecord } from "../../../records/shard-record.ts";

/** Whether two shard records say the same, tokens and metadata included. */
export function equalShards(a: ShardRecord, b: ShardRecord): boolean {
  return (
    a.tenant === b.tenant &&
    a.run === b.run &&
    a.shard === b.shard &&
    a.status === b.status &&
    a.parkReason === b.parkReason &&
    a.cursorSemantics === b.cursorSemantics &&
    a.fenceEpoch === b.fenceEpoch &&
    a.parent === b.parent &&
    a.lastTime === b.lastTime &&
    a.attempts === b.attempts &&
    equalSpecs(a.spec, b.spec) &&
    Cursor.equals(a.cursor, b.cursor) &&
    equalHolders(a.lease, b.lease) &&
    equalLists(a.spawned, b.spawned, (x, y) => x === y) &&
    equalLists(a.opLog, b.opLog, equalEntries)
  );
}

/** Whether two run records say the same, by what can change in one. */
export function equalRuns(a: RunRecord, b: RunRecord): boolean {
  return (
    a.tenant === b.tenant &&
    a.run === b.run &&
    a.status === b.status &&
    a.createdAt === b.createdAt &&
    a.completedAt === b.completedAt &&
    a.lastTime === b.lastTime &&
    equalLists(a.rootShards, b.rootShards, (x, y) => x === y) &&
    equalLists(a.opLog, b.opLog, (x, y) => x.opId === y.opId && x.payloadHash === y.payloadHash)
  );
}

export function equalSpecs(a: ShardSpec, b: ShardSpec): boolean {
  return (
    equalBytes(a.keyRangeStart, b.keyRangeStart) &&
    equalBytes(a.keyRangeEnd, b.keyRangeEnd) &&
    equalBytes(a.metadata, b.metadata)
  );
}

function equalHolders(a: LeaseHolder | undefined, b: LeaseHolder | undefined): boolean {
  return a?.owner === b?.owner && a?.deadline === b?.deadline && a?.opId === b?.opId;
}

function equalEntries(a: OpLogEntry, b: OpLogEntry): boolean {
  return (
    a.opId === b.opId &&
    a.kind === b.kind &&
    a.payloadHash === b.payloadHash &&
    a.executedAt === b.executedAt &&
    a.result === b.result
  );
}

function equalLists<Item>(a: readonly Item[], b: readonly Item[], equal: (x: Item, y: Item) => boolean): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => equal(item, b[index]!)));
}
