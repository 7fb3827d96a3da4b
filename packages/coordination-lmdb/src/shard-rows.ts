import type { ShardRecord } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import { assert } from "@gossip/stdx";
import { shardRecordKey, type RunAddress } from "./keyspace.ts";
import { orderEntries } from "./order-key.ts";
import { placeKey } from "./place-key.ts";
import { FIRST_SHARD_VERSION } from "./row-version.ts";
import type { Rows } from "./rows.ts";

// One call encodes at a time and none waits in between, so all of them share this.
const writer = new RecordWriter();

/** The values of records, in memory of their own. A record that cannot be stored throws here, before anything is put down. */
export function encodeShards(records: readonly ShardRecord[]): Uint8Array[] {
  writer.reset();
  const ends = records.map((record) => {
    encodeShardRecordInto(record, writer);
    return writer.length;
  });
  const bytes = writer.toOwned();
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** Throw unless a record is of the run whose write set it is in. */
export function assertOwn({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}

/** A new shard's row and its entries in the indexes, ready to be written. */
export interface NewShardRows {
  readonly key: Buffer;
  readonly value: Uint8Array;
  readonly entries: readonly Buffer[];
}

export function prepareNewShards(address: RunAddress, records: readonly ShardRecord[]): NewShardRows[] {
  for (const record of records) assertOwn(address, record);
  const values = encodeShards(records);
  return records.map((record, index) => ({
    key: shardRecordKey(address, record.shard),
    value: values[index]!,
    entries: shardEntries(address, record),
  }));
}

/** Every index entry that a shard must have. */
export function shardEntries(address: RunAddress, record: ShardRecord): Buffer[] {
  const place = placeKey(address, record);
  const entries = orderEntries(address, record.spec.keyRangeStart, record.shard);
  return place === undefined ? entries : [...entries, place];
}

export function putNewShards(rows: Rows, shards: readonly NewShardRows[]): void {
  for (const { key, value, entries } of shards) {
    rows.put(key, value, FIRST_SHARD_VERSION);
    for (const entry of entries) rows.put(entry);
  }
}
