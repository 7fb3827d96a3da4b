import type { ShardRecord } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";
import type { RunAddress } from "@gossip/store-kit";
import { shardRecordKey } from "./keyspace.ts";
import { orderEntries } from "./order-key.ts";
import { entryKey } from "./entry-key.ts";
import { FIRST_SHARD_VERSION } from "./row-version.ts";
import type { Rows } from "../engine/rows.ts";

// A scratch buffer: encoding is synchronous, so one is enough.
const writer = new RecordWriter();

/** Encodes records. Throws if one cannot be stored, before anything is handed to the driver. */
export function encodeShards(records: readonly ShardRecord[]): Uint8Array[] {
  writer.reset();
  const ends = records.map((record) => {
    encodeShardRecordInto(record, writer);
    return writer.length;
  });
  const bytes = writer.toOwned();
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** The row of a new shard and its index entries, ready to be written. */
export interface NewShardRows {
  readonly key: Buffer;
  readonly value: Uint8Array;
  readonly entries: readonly Buffer[];
}

export function prepareNewShards(address: RunAddress, records: readonly ShardRecord[]): NewShardRows[] {
  const values = encodeShards(records);
  return records.map((record, index) => ({
    key: shardRecordKey(address, record.shard),
    value: values[index]!,
    entries: shardEntries(address, record),
  }));
}

/** All index entries of a shard. */
export function shardEntries(address: RunAddress, record: ShardRecord): Buffer[] {
  const entry = entryKey(address, record);
  const entries = orderEntries(address, record.spec.keyRangeStart, record.shard);
  return entry === undefined ? entries : [...entries, entry];
}

export function putNewShards(rows: Rows, shards: readonly NewShardRows[]): void {
  for (const { key, value, entries } of shards) {
    rows.put(key, value, FIRST_SHARD_VERSION);
    for (const entry of entries) rows.put(entry);
  }
}
