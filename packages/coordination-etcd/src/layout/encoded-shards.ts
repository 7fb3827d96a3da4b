import type { ShardRecord } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import type { PutOperation } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";
import type { Layout, RunAddress, Space } from "./layout.ts";
import { orderKey, placeOf } from "./place.ts";

// One call encodes at a time and none waits in between, so all of them share this.
const writer = new RecordWriter();

/** The value of a record. One that cannot be stored throws here, before anything is sent. */
export function encodeShard(record: ShardRecord): Uint8Array {
  writer.reset();
  encodeShardRecordInto(record, writer);
  return writer.toOwned();
}

/** Throw unless a record is of the run whose write set it is in. */
export function assertOwn({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}

/** A new shard, with everything that it takes but the space that it will be in. */
export interface EncodedShard {
  readonly record: ShardRecord;
  readonly value: Uint8Array;
}

export function encodeNewShards(address: RunAddress, created: readonly ShardRecord[]): EncodedShard[] {
  for (const record of created) assertOwn(address, record);
  return created.map((record) => ({ record, value: encodeShard(record) }));
}

/** What creates a shard in a space: its record, and its entries in the indexes. */
export function newShardOperations(layout: Layout, space: Space, { record, value }: EncodedShard): PutOperation[] {
  return [
    { put: layout.record(space, record.shard), value },
    ...indexEntries(layout, space, record).map(({ key, value: held }) => ({ put: key, value: held })),
  ];
}

/** Every index entry that a shard must have. */
export function indexEntries(
  layout: Layout,
  space: Space,
  record: ShardRecord,
): { readonly key: string; readonly value: string | Uint8Array }[] {
  const order = {
    key: orderKey(layout, space, { keyRangeStart: record.spec.keyRangeStart, shard: record.shard }),
    value: "",
  };
  const place = placeOf(layout, space, record);
  return place === undefined ? [order] : [order, place];
}
