import type { ShardRecord, ShardWrite } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter, type ShardEncoder } from "@gossip/coordination-codec/internal";
import { byteaArray, int8Array, nameArray, u64Array, type ServerArray } from "./server-array.ts";

// Shared by all calls: encoding is synchronous.
const writer = new RecordWriter();

/** The columns that a checkpoint changes, of new shards. Throws for a record that cannot be stored. */
export function cursorColumns(records: readonly ShardRecord[]): ServerArray[] {
  return progressColumns(records, (record) => encodeShardRecordInto(record, writer));
}

/** The same columns, of shards that are updated. */
export function updatedCursorColumns(updates: readonly ShardWrite[], encoder: ShardEncoder): ServerArray[] {
  return progressColumns(
    updates.map(({ after }) => after),
    (after, index) => encoder.encodeInto(updates[index]!.before, after, writer),
  );
}

function progressColumns(
  records: readonly ShardRecord[],
  encode: (record: ShardRecord, index: number) => void,
): ServerArray[] {
  return [
    int8Array(records.map(({ attempts }) => attempts)),
    byteaArray(records.map(({ cursor }) => cursor.lastKey)),
    byteaArray(encodeAll(records, encode)),
  ];
}

/** The other columns that can change. */
export function stateColumns(records: readonly ShardRecord[]): ServerArray[] {
  return [
    nameArray(records.map(({ status }) => status)),
    nameArray(records.map(({ parkReason }) => parkReason)),
    u64Array(records.map(({ lease }) => lease?.owner)),
    u64Array(records.map(({ lease }) => lease?.deadline)),
    u64Array(records.map(({ fenceEpoch }) => fenceEpoch)),
  ];
}

/** The columns that never change. */
export function birthColumns(records: readonly ShardRecord[]): ServerArray[] {
  return [u64Array(records.map(({ parent }) => parent)), byteaArray(records.map(({ spec }) => spec.keyRangeStart))];
}

export function encodeOne(record: ShardRecord): Uint8Array {
  writer.reset();
  encodeShardRecordInto(record, writer);
  return writer.toOwned();
}

/** Encodes with `encode`. Returns views of the shared writer, valid until its next use. */
function encodeAll(
  records: readonly ShardRecord[],
  encode: (record: ShardRecord, index: number) => void,
): Uint8Array[] {
  writer.reset();
  const ends = records.map((record, index) => {
    encode(record, index);
    return writer.length;
  });
  const encoded = writer.view();
  return ends.map((end, index) => encoded.subarray(index === 0 ? 0 : ends[index - 1], end));
}
