import type { ShardRecord } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec";
import { claimSpread } from "./claim-spread.ts";
import { u64Bytes } from "./u64-bytes.ts";

/** Bytes before a row's record: shard, owner and deadline of the lease, fence. */
const FIXED_SIZE = 32;

// One call encodes at a time and none waits in between, so all of them share this.
const writer = new RecordWriter();

/**
 * Rows of shards as parameters of a statement: what is bytes in one buffer, the rest in an array a column.
 *
 * The driver sends a buffer as it is, but an array of them as text, in twice as many bytes that each side must
 * convert. A row in the buffer is:
 *
 * | bytes         |                                              |
 * | ------------- | -------------------------------------------- |
 * | 8             | shard                                        |
 * | 8, 8          | owner and deadline of its lease, zero where it has none |
 * | 8             | fence                                        |
 * | `recordSizes` | the record                                   |
 * | `keySizes`    | the cursor's key, where there is one         |
 * | `startSizes`  | the start of its range, in a new row only    |
 */
export class ShardPack {
  readonly bytes: Buffer;
  readonly statuses: string[] = [];
  readonly parkReasons: (string | null)[] = [];
  readonly hasLease: boolean[] = [];
  readonly attempts: number[] = [];
  /** Where each row begins in the buffer, counted from 1 as SQL does. */
  readonly places: number[] = [];
  readonly recordSizes: number[] = [];
  readonly keySizes: (number | null)[] = [];
  readonly startSizes: number[] = [];
  readonly spreads: number[] = [];
  readonly parents: (Buffer | null)[] = [];

  /** `isNew`: with what only a new row has. A record that cannot be stored throws. */
  constructor(records: readonly ShardRecord[], { isNew }: { readonly isNew: boolean }) {
    const ends = encodeAll(records);
    const encoded = writer.view();
    let size = encoded.length;
    for (const { cursor, spec } of records) {
      size += FIXED_SIZE + (cursor.lastKey?.length ?? 0) + (isNew ? spec.keyRangeStart.length : 0);
    }
    this.bytes = Buffer.allocUnsafe(size);
    let place = 0;
    for (const [index, record] of records.entries()) {
      const blob = encoded.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
      place = this.#add(record, blob, place);
      if (isNew) place = this.#addNew(record, place);
    }
  }

  #add(record: ShardRecord, blob: Uint8Array, place: number): number {
    const { bytes } = this;
    const { lease, cursor } = record;
    bytes.writeBigUInt64BE(record.shard, place);
    bytes.writeBigUInt64BE(lease?.owner ?? 0n, place + 8);
    bytes.writeBigUInt64BE(lease?.deadline ?? 0n, place + 16);
    bytes.writeBigUInt64BE(record.fenceEpoch, place + 24);
    bytes.set(blob, place + FIXED_SIZE);
    let end = place + FIXED_SIZE + blob.length;
    if (cursor.lastKey !== undefined) {
      bytes.set(cursor.lastKey, end);
      end += cursor.lastKey.length;
    }
    this.statuses.push(record.status);
    this.parkReasons.push(record.parkReason ?? null);
    this.hasLease.push(lease !== undefined);
    this.attempts.push(record.attempts);
    this.places.push(place + 1);
    this.recordSizes.push(blob.length);
    this.keySizes.push(cursor.lastKey?.length ?? null);
    return end;
  }

  #addNew({ shard, spec, parent }: ShardRecord, place: number): number {
    this.bytes.set(spec.keyRangeStart, place);
    this.startSizes.push(spec.keyRangeStart.length);
    this.spreads.push(claimSpread(shard));
    this.parents.push(parent === undefined ? null : u64Bytes(parent));
    return place + spec.keyRangeStart.length;
  }
}

/** Encode into the shared writer; where each record ends. */
function encodeAll(records: readonly ShardRecord[]): number[] {
  writer.reset();
  return records.map((record) => {
    encodeShardRecordInto(record, writer);
    return writer.length;
  });
}
