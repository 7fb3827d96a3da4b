import { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import type { Operation } from "@gossip/etcd-client";
import { ShardKind, type KeyRange, type Layout, type Space } from "./layout.ts";

const MIX_DIGITS = 8;
/** One more than the greatest mix. */
export const MIX_LIMIT = 2 ** 32;

/**
 * Leases whose deadlines share a bucket, of about two minutes, have keys beside each other.
 *
 * A renewal that stays in its bucket changes a value and no key. That matters more than small buckets do: etcd goes through keys that are no more
 * until it compacts, so that a key for every renewal would cost more than it saves.
 */
const BUCKET_BITS = 17n;
const BUCKET_DIGITS = 16;
export const LAST_BUCKET: bigint = (1n << (64n - BUCKET_BITS)) - 1n;

const NO_VALUE = "";

/** What decides in which place a shard is. */
export type PlacedShard = Pick<ShardRecord, "shard" | "status" | "lease" | "cursor">;

export interface Place {
  readonly key: string;
  readonly value: string | Uint8Array;
}

/**
 * The one entry of a shard in the indexes by state, or none where it is done.
 *
 * - Active and held by nobody: under a mix of its id, so that what a worker finds in a row is of all parts of the run. What was begun
 *   is apart, so that it is found first and finding how far a run has come need not look at the rest.
 * - Active and held: under the bucket of its deadline, with the deadline.
 * - Parked or split: to be counted. What is done is the rest.
 */
export function placeOf(
  layout: Layout,
  space: Space,
  { shard, status, lease, cursor }: PlacedShard,
): Place | undefined {
  const id = ShardId.format(shard);
  switch (status) {
    case "Active":
      if (lease !== undefined)
        return {
          key: `${heldFrom(layout, space, bucketOf(lease.deadline))}${id}`,
          value: deadlineBytes(lease.deadline),
        };
      return {
        key: `${freeFrom(layout, space, { isBegun: cursor.lastKey !== undefined, mix: mixOf(shard) })}${id}`,
        value: NO_VALUE,
      };
    case "Parked":
      return { key: `${layout.kind(space, ShardKind.Parked).get}${id}`, value: NO_VALUE };
    case "Split":
      return { key: `${layout.kind(space, ShardKind.Split).get}${id}`, value: NO_VALUE };
    case "Done":
      return undefined;
  }
}

/** What moves a shard from one place to another. Most writes move nothing: a checkpoint changes neither status nor lease. */
export function moveOperations(
  layout: Layout,
  space: Space,
  { before, after }: { readonly before: PlacedShard; readonly after: PlacedShard },
): Operation[] {
  if (!isMoved(before, after)) return [];
  const left = placeOf(layout, space, before);
  const taken = placeOf(layout, space, after);
  const operations: Operation[] = [];
  if (left !== undefined && left.key !== taken?.key) operations.push({ delete: left.key });
  if (taken !== undefined) operations.push({ put: taken.key, value: taken.value });
  return operations;
}

/** The entry that has a shard in its place in the order of range starts. */
export function orderKey(
  layout: Layout,
  space: Space,
  { keyRangeStart, shard }: { readonly keyRangeStart: Uint8Array; readonly shard: ShardId },
): string {
  // A slash sorts below every digit, so that a start comes before those that go on from it.
  return `${layout.kind(space, ShardKind.Order).get}${Buffer.from(keyRangeStart).toString("hex")}/${ShardId.format(shard)}`;
}

/** Where those begin that nobody holds, from a mix on. `MIX_LIMIT` is behind the last. */
export function freeFrom(
  layout: Layout,
  space: Space,
  { isBegun, mix }: { readonly isBegun: boolean; readonly mix: number },
): string {
  const range = layout.kind(space, isBegun ? ShardKind.Begun : ShardKind.Fresh);
  return mix >= MIX_LIMIT ? range.end : `${range.get}${mix.toString(16).padStart(MIX_DIGITS, "0")}`;
}

/** Where the leases of a bucket begin. */
export function heldFrom(layout: Layout, space: Space, bucket: bigint): string {
  return `${layout.kind(space, ShardKind.Held).get}${bucket.toString(16).padStart(BUCKET_DIGITS, "0")}/`;
}

/** Leases up to the end of a bucket. */
export function heldUpTo(layout: Layout, space: Space, bucket: bigint): KeyRange {
  const all = layout.kind(space, ShardKind.Held);
  return bucket >= LAST_BUCKET ? all : { get: all.get, end: heldFrom(layout, space, bucket + 1n) };
}

export function bucketOf(deadline: bigint): bigint {
  return deadline >> BUCKET_BITS;
}

/** Eight bytes, most significant first: values sort as the times do. */
export function deadlineBytes(deadline: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(deadline);
  return bytes;
}

/** Thirty-two bits in which every bit of a shard's id has a part: neighbouring ids end up far from each other. */
export function mixOf(shard: ShardId): number {
  let mix = Number(shard & 0xffff_ffffn) ^ Math.imul(Number(shard >> 32n), 0x9e37_79b1);
  mix = Math.imul(mix ^ (mix >>> 16), 0x85eb_ca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2_ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

function isMoved(before: PlacedShard, after: PlacedShard): boolean {
  if (before.status !== after.status) return true;
  if (before.status !== "Active") return false;
  // Of what is held it does not matter here whether it is begun.
  return (
    before.lease?.deadline !== after.lease?.deadline ||
    (after.lease === undefined && isBegun(before) !== isBegun(after))
  );
}

function isBegun({ cursor }: PlacedShard): boolean {
  return cursor.lastKey !== undefined;
}
