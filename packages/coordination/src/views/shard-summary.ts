import type { LogicalTime, ParkReason, ShardId, ShardStatus } from "@gossip/contracts";
import { acquireCount, isLeasedAt, type ShardRecord } from "../records/shard-record.ts";

/** A shard in a list. */
export interface ShardSummary {
  readonly shard: ShardId;
  readonly status: ShardStatus;
  readonly parkReason: ParkReason | undefined;
  readonly isLeased: boolean;
  /** Present exactly if it is leased. */
  readonly leaseDeadline: LogicalTime | undefined;
  /** How often it was acquired. Unparking counts too. */
  readonly acquireCount: number;
  readonly lastKey: Uint8Array | undefined;
  readonly keyRangeStart: Uint8Array;
  readonly keyRangeEnd: Uint8Array;
  readonly parent: ShardId | undefined;
  readonly spawnedCount: number;
}

/** Summarize a shard as it is at `now`. */
export function summarizeShard(record: ShardRecord, now: LogicalTime): ShardSummary {
  const isLeased = isLeasedAt(record, now);
  return {
    shard: record.shard,
    status: record.status,
    parkReason: record.parkReason,
    isLeased,
    leaseDeadline: isLeased ? record.lease?.deadline : undefined,
    acquireCount: acquireCount(record),
    lastKey: record.cursor.lastKey,
    keyRangeStart: record.spec.keyRangeStart,
    keyRangeEnd: record.spec.keyRangeEnd,
    parent: record.parent,
    spawnedCount: record.spawned.length,
  };
}
