import type { ShardRecord } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import type { PutOperation } from "@gossip/etcd-client";
import type { Layout, Space } from "./layout.ts";
import { orderKey, stateEntry } from "./shard-indexes.ts";

// Encoding is synchronous, so all calls share one writer.
const writer = new RecordWriter();

/** Encodes a record. Throws, before anything is sent, if the record cannot be stored. */
export function encodeShard(record: ShardRecord): Uint8Array {
  writer.reset();
  encodeShardRecordInto(record, writer);
  return writer.toOwned();
}

/** A new shard and its encoded record. */
export interface EncodedShard {
  readonly record: ShardRecord;
  readonly value: Uint8Array;
}

export function encodeNewShards(created: readonly ShardRecord[]): EncodedShard[] {
  return created.map((record) => ({ record, value: encodeShard(record) }));
}

/** The puts that create a shard in a space: its record and its index entries. */
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
  const entry = stateEntry(layout, space, record);
  return entry === undefined ? [order] : [order, entry];
}
