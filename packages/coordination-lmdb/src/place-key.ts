import { ShardStatus, type LogicalTime, type ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { readU64, RowKind, RUN_KEY_SIZE, runKey, U64_SIZE, writeU64, type RunAddress } from "./keyspace.ts";

const MIX_SIZE = 4;
const BEGUN_AT = RUN_KEY_SIZE + U64_SIZE;
const MIX_AT = BEGUN_AT + 1;
const SHARD_AT = MIX_AT + MIX_SIZE;
const CLAIM_KEY_SIZE = SHARD_AT + U64_SIZE;

/** The deadline of what nobody holds: before every other. */
const FREE = 0n;

/** What decides in which place a shard is. */
export type PlacedShard = Pick<ShardRecord, "shard" | "status" | "lease" | "cursor">;

/**
 * The one entry of a shard in the indexes by state, or none where it is done.
 *
 * - An active shard is in the claim index, under its lease's deadline, or under 0 where it has no
 *   lease. What can be claimed at a time is then one range, and the next key behind it has the
 *   deadline that comes first. Those that nobody holds are told apart by whether they have been
 *   begun: finding how far a run has come need not look at all those that have not.
 * - A parked or split one is in the status index, to be counted. What is done is the rest.
 *
 * A shard's number is behind a mix of it, so that those that a worker finds next to each other are
 * of all parts of the run, and `spread` can point anywhere.
 */
export function placeKey(address: RunAddress, shard: PlacedShard): Buffer | undefined {
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

/** Whether a write moves a shard to another place. Most do not: a checkpoint changes neither status nor lease. */
export function isMoved(before: PlacedShard, after: PlacedShard): boolean {
  if (before.status !== after.status) return true;
  if (before.status !== "Active") return false;
  return (
    before.lease?.deadline !== after.lease?.deadline ||
    (after.lease === undefined && isBegun(before) !== isBegun(after))
  );
}

/** Under which deadline a shard is in the claim index: 0 where nobody holds it, `undefined` where it is not in there. */
export function claimDeadline({ status, lease }: PlacedShard): LogicalTime | undefined {
  return status === "Active" ? (lease?.deadline ?? (FREE as LogicalTime)) : undefined;
}

/** What all shards of a run in one status begin with, in the status index. */
export function statusPrefix(address: RunAddress, status: "Parked" | "Split"): Buffer {
  const prefix = runKey(RowKind.Status, address, 1);
  prefix[RUN_KEY_SIZE] = ShardStatus.codes[status];
  return prefix;
}

/** Where in the claim index the leases begin that end at `deadline` or later. */
export function claimsFrom(address: RunAddress, deadline: bigint): Buffer {
  const key = runKey(RowKind.Claim, address, U64_SIZE);
  writeU64(key, deadline, RUN_KEY_SIZE);
  return key;
}

/** Where in the claim index those begin that nobody holds, or that nobody holds from `mix` on. */
export function freeFrom(address: RunAddress, isBegun: boolean, mix = 0): Buffer {
  const key = runKey(RowKind.Claim, address, U64_SIZE + 1 + MIX_SIZE);
  writeU64(key, FREE, RUN_KEY_SIZE);
  key[BEGUN_AT] = isBegun ? 1 : 0;
  key.writeUInt32BE(mix, MIX_AT);
  return key;
}

/** The deadline in a key of the claim index; zero where nobody holds the shard. */
export function deadlineOf(key: Uint8Array): LogicalTime {
  return readU64(key, RUN_KEY_SIZE) as LogicalTime;
}

function claimKey(address: RunAddress, { shard, lease, cursor }: PlacedShard): Buffer {
  const key = runKey(RowKind.Claim, address, CLAIM_KEY_SIZE - RUN_KEY_SIZE);
  writeU64(key, lease?.deadline ?? FREE, RUN_KEY_SIZE);
  // Of a shard that is held it need not be known, and a first checkpoint then changes nothing here.
  key[BEGUN_AT] = lease === undefined && cursor.lastKey !== undefined ? 1 : 0;
  key.writeUInt32BE(mixOf(shard), MIX_AT);
  writeU64(key, shard, SHARD_AT);
  return key;
}

function statusKey(address: RunAddress, { shard, status }: PlacedShard): Buffer {
  const key = runKey(RowKind.Status, address, 1 + U64_SIZE);
  key[RUN_KEY_SIZE] = ShardStatus.codes[status];
  writeU64(key, shard, RUN_KEY_SIZE + 1);
  return key;
}

function isBegun({ cursor }: PlacedShard): boolean {
  return cursor.lastKey !== undefined;
}

/** Thirty-two bits in which every bit of a shard's id has a part: neighbouring ids end up far from each other. */
export function mixOf(shard: ShardId): number {
  let mix = Number(shard & 0xffff_ffffn) ^ Math.imul(Number(shard >> 32n), 0x9e37_79b1);
  mix = Math.imul(mix ^ (mix >>> 16), 0x85eb_ca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2_ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
