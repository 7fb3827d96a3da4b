import { createHash } from "node:crypto";
import type { RunRecord, ShardRecord } from "@gossip/coordination";
import { u64Bytes } from "../layout/u64-bytes.ts";

/** The columns of a shard beside its record. */
export interface ShardColumnsRow {
  readonly attempts: string;
  readonly status: string;
  readonly key_range_start: Buffer;
  readonly fence: Buffer;
  readonly lease_owner: Buffer | null;
  readonly lease_deadline: Buffer | null;
  readonly parent: Buffer | null;
  readonly park_reason: string | null;
  readonly cursor_key: Buffer | null;
}

/** The columns of a run beside its record. */
export interface RunColumnsRow {
  readonly status: string;
  readonly cursor_semantics: string;
  readonly lease_duration: Buffer;
  readonly max_shard_retries: string | null;
}

type ColumnValue = string | number | Uint8Array | null;

/** The columns that a shard must have, in the order of `rebuild_shard`. */
export function shardColumnsOf(record: ShardRecord): ColumnValue[] {
  const { attempts, status, spec, fenceEpoch, lease, parent, parkReason, cursor } = record;
  return [
    attempts,
    status,
    spec.keyRangeStart,
    u64Bytes(fenceEpoch),
    lease === undefined ? null : u64Bytes(lease.owner),
    lease === undefined ? null : u64Bytes(lease.deadline),
    parent === undefined ? null : u64Bytes(parent),
    parkReason ?? null,
    cursor.lastKey ?? null,
  ];
}

export function shardColumnsIn(row: ShardColumnsRow): ColumnValue[] {
  return [
    row.attempts,
    row.status,
    row.key_range_start,
    row.fence,
    row.lease_owner,
    row.lease_deadline,
    row.parent,
    row.park_reason,
    row.cursor_key,
  ];
}

/** The columns that a run must have, in the order of `rebuild_run`. */
export function runColumnsOf({ status, config }: RunRecord): ColumnValue[] {
  return [status, config.cursorSemantics, u64Bytes(config.leaseDuration), config.maxShardRetries ?? null];
}

export function runColumnsIn(row: RunColumnsRow): ColumnValue[] {
  return [row.status, row.cursor_semantics, row.lease_duration, row.max_shard_retries];
}

/** Equal if and only if the columns are. Short, because a check holds one for each shard of a run. */
export function digestOf(columns: readonly ColumnValue[]): string {
  const hash = createHash("sha1");
  for (const column of columns) {
    const bytes = column === null ? undefined : typeof column === "object" ? column : Buffer.from(String(column));
    hash.update(`${bytes?.length ?? "-"}:`);
    if (bytes !== undefined) hash.update(bytes);
  }
  return hash.digest("base64");
}
