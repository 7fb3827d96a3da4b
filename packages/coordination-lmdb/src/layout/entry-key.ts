import { ShardStatus, type LogicalTime } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { mixOf, type RunAddress } from "@gossip/store-kit";
import { readU64, RowKind, RUN_KEY_SIZE, runKey, U64_SIZE, writeU64 } from "./keyspace.ts";

const MIX_SIZE = 4;
const BEGUN_AT = RUN_KEY_SIZE + U64_SIZE;
const MIX_AT = BEGUN_AT + 1;
const SHARD_AT = MIX_AT + MIX_SIZE;
const CLAIM_KEY_SIZE = SHARD_AT + U64_SIZE;

/** The deadline of a free shard in the index: before every other. */
const FREE = 0n;

/** The fields of a shard that decide where its index entry is. */
export type IndexedShard = Pick<ShardRecord, "shard" | "status" | "lease" | "cursor">;

/**
 * The key of a shard's entry in the indexes by status, or `undefined` if the shard is done.
 *
 * - An active shard is in the claim index, under the deadline of its lease, or under 0 if it has none. The shards that
 *   can be claimed at a given time are then one range, and the key after that range has the next deadline. Free shards
 *   with progress are separated from those without, so that finding a run's watermark reads only the former.
 * - A parked or split shard is in the status index, for counting. All other shards are done.
 *
 * A hash of the shard's id comes before the id. Neighbors in the index then come from all parts of the run, and `spread`
 * can select any starting point.
 */
export function entryKey(address: RunAddress, shard: IndexedShard): Buffer | undefined {
  switch (shard.status) {
    case "Active":
      return claimKey(address, shard);
    case "Parked":
    case "Split":
      return statusKey(address, shard);
    case "Done":
      return undefined;
  }
}

/** The deadline of a shard in the claim index: 0 if it is free, `undefined` if it is not in the index. */
export function claimDeadline({ status, lease }: IndexedShard): LogicalTime | undefined {
  return status === "Active" ? (lease?.deadline ?? (FREE as LogicalTime)) : undefined;
}

/** The prefix of all shards of a run in one status, in the status index. */
export function statusPrefix(address: RunAddress, status: "Parked" | "Split"): Buffer {
  const prefix = runKey(RowKind.Status, address, 1);
  prefix[RUN_KEY_SIZE] = ShardStatus.codes[status];
  return prefix;
}

/** The start of the leases in the claim index that end at `deadline` or later. */
export function claimsFrom(address: RunAddress, deadline: bigint): Buffer {
  const key = runKey(RowKind.Claim, address, U64_SIZE);
  writeU64(key, deadline, RUN_KEY_SIZE);
  return key;
}

/** The start of the free shards in the claim index, or of those from the hash `mix` on. */
export function freeFrom(address: RunAddress, isBegun: boolean, mix = 0): Buffer {
  const key = runKey(RowKind.Claim, address, U64_SIZE + 1 + MIX_SIZE);
  writeU64(key, FREE, RUN_KEY_SIZE);
  key[BEGUN_AT] = isBegun ? 1 : 0;
  key.writeUInt32BE(mix, MIX_AT);
  return key;
}

/** The deadline in a key of the claim index; zero if the shard is free. */
export function deadlineOf(key: Uint8Array): LogicalTime {
  return readU64(key, RUN_KEY_SIZE) as LogicalTime;
}

function claimKey(address: RunAddress, { shard, lease, cursor }: IndexedShard): Buffer {
  const key = runKey(RowKind.Claim, address, CLAIM_KEY_SIZE - RUN_KEY_SIZE);
  writeU64(key, lease?.deadline ?? FREE, RUN_KEY_SIZE);
  // A held shard always has 0 here, so that its first checkpoint does not move the entry.
  key[BEGUN_AT] = lease === undefined && cursor.lastKey !== undefined ? 1 : 0;
  key.writeUInt32BE(mixOf(shard), MIX_AT);
  writeU64(key, shard, SHARD_AT);
  return key;
}

function statusKey(address: RunAddress, { shard, status }: IndexedShard): Buffer {
  const key = runKey(RowKind.Status, address, 1 + U64_SIZE);
  key[RUN_KEY_SIZE] = ShardStatus.codes[status];
  writeU64(key, shard, RUN_KEY_SIZE + 1);
  return key;
}
