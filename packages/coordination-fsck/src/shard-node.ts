import type { ShardId, ShardStatus } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";

/** What is kept of a shard while its run is checked: a run may have a million of them. */
export interface ShardNode {
  readonly shard: ShardId;
  readonly status: ShardStatus;
  readonly parent: ShardId | undefined;
  readonly spawned: readonly ShardId[];
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly lastKey: Uint8Array | undefined;
}

export type ShardNodes = ReadonlyMap<ShardId, ShardNode>;

export function nodeOf({ shard, status, parent, spawned, spec, cursor }: ShardRecord): ShardNode {
  return { shard, status, parent, spawned, start: spec.keyRangeStart, end: spec.keyRangeEnd, lastKey: cursor.lastKey };
}
