import type { Cursor, CursorSemantics, ShardId, ShardSpec, ShardStatus } from "@gossip/contracts";
import type { ShardRecord } from "../records/shard-record.ts";

/** What a worker needs to know of the shard it was given. */
export interface ShardSnapshot {
  readonly status: ShardStatus;
  readonly spec: ShardSpec;
  readonly cursor: Cursor;
  readonly cursorSemantics: CursorSemantics;
  readonly parent: ShardId | undefined;
  readonly spawned: readonly ShardId[];
}

export function snapshotOf(record: ShardRecord): ShardSnapshot {
  const { status, spec, cursor, cursorSemantics, parent, spawned } = record;
  return { status, spec, cursor, cursorSemantics, parent, spawned };
}
