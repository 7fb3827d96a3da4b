import { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import type { TxnOperation } from "@gossip/etcd-client";
import { hasEntryMoved, mixOf } from "@gossip/store-kit";
import { ShardKind, type KeyRange, type Layout, type Space } from "./layout.ts";

const MIX_DIGITS = 8;
/** One above the greatest mix. */
export const MIX_LIMIT = 2 ** 32;

/**
 * Leases whose deadlines share a bucket of about two minutes have adjacent keys.
 *
 * A renewal within a bucket changes a value and no key. That matters more than small buckets: etcd scans deleted keys
 * until it compacts, so a new key for every renewal would cost more than it saves.
 */
const BUCKET_BITS = 17n;
const BUCKET_DIGITS = 16;
export const LAST_BUCKET: bigint = (1n << (64n - BUCKET_BITS)) - 1n;

const NO_VALUE = "";

/** The fields of a shard that determine its index entry. */
export type IndexedShard = Pick<ShardRecord, "shard" | "status" | "lease" | "cursor">;

export interface IndexEntry {
  readonly key: string;
  readonly value: string | Uint8Array;
}

/**
 * The entry of a shard in the indexes by state; `undefined` if the shard is done.
 *
 * - Active without a lease: under a mix of its id, so that adjacent entries come from all parts of the run. Started
 *   shards have an index of their own, so that workers find them first and progress need not read the rest.
 * - Active with a lease: under the bucket of its deadline, with the deadline as value.
 * - Parked or split: for counting. The remaining shards are done.
 */
export function stateEntry(
  layout: Layout,
  space: Space,
  { shard, status, lease, cursor }: IndexedShard,
): IndexEntry | undefined {
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

/**
 * The operations that replace a shard's index entry. Most writes need none: a checkpoint changes neither status nor
 * lease.
 */
export function moveOperations(
  layout: Layout,
  space: Space,
  { before, after }: { readonly before: IndexedShard; readonly after: IndexedShard },
): TxnOperation[] {
  if (!hasEntryMoved(before, after)) return [];
  const left = stateEntry(layout, space, before);
  const taken = stateEntry(layout, space, after);
  const operations: TxnOperation[] = [];
  if (left !== undefined && left.key !== taken?.key) operations.push({ delete: left.key });
  if (taken !== undefined) operations.push({ put: taken.key, value: taken.value });
  return operations;
}

/** The key of a shard in the index by range start. */
export function orderKey(
  layout: Layout,
  space: Space,
  { keyRangeStart, shard }: { readonly keyRangeStart: Uint8Array; readonly shard: ShardId },
): string {
  // A slash sorts below every hex digit, so a start comes before the longer ones that it is a prefix of.
  return `${layout.kind(space, ShardKind.Order).get}${Buffer.from(keyRangeStart).toString("hex")}/${ShardId.format(shard)}`;
}

/** The first key of the free shards from a mix on. `MIX_LIMIT` gives the end of the range. */
export function freeFrom(
  layout: Layout,
  space: Space,
  { isBegun, mix }: { readonly isBegun: boolean; readonly mix: number },
): string {
  const range = layout.kind(space, isBegun ? ShardKind.Begun : ShardKind.Fresh);
  return mix >= MIX_LIMIT ? range.end : `${range.get}${mix.toString(16).padStart(MIX_DIGITS, "0")}`;
}

/** The first key of the leases in a bucket. */
export function heldFrom(layout: Layout, space: Space, bucket: bigint): string {
  return `${layout.kind(space, ShardKind.Held).get}${bucket.toString(16).padStart(BUCKET_DIGITS, "0")}/`;
}

/** The range of leases up to the end of a bucket. */
export function heldUpTo(layout: Layout, space: Space, bucket: bigint): KeyRange {
  const all = layout.kind(space, ShardKind.Held);
  return bucket >= LAST_BUCKET ? all : { get: all.get, end: heldFrom(layout, space, bucket + 1n) };
}

export function bucketOf(deadline: bigint): bigint {
  return deadline >> BUCKET_BITS;
}

/** Eight bytes, big-endian, so that values sort like times. */
export function deadlineBytes(deadline: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(deadline);
  return bytes;
}
