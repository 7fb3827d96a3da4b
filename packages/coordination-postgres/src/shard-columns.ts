import type { ShardRecord, ShardWrite } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec";
import { claimSpread } from "./claim-spread.ts";
import { isSamePlace, placeOf, type Place } from "./place.ts";
import { byteaArray, int8Array, nameArray, u64Array } from "./server-array.ts";

// One call encodes at a time and none waits in between, so all of them share this.
const writer = new RecordWriter();

/**
 * What a checkpoint changes of shards, a column each. A record that cannot be stored throws.
 *
 * `before`: what each takes the place of, where it is worked on again and again, so that what stays is not encoded each time.
 */
export function cursorColumns(records: readonly ShardRecord[], before?: readonly ShardRecord[]): Buffer[] {
  return [
    int8Array(records.map(({ attempts }) => attempts)),
    byteaArray(records.map(({ cursor }) => cursor.lastKey)),
    byteaArray(encodeAll(records, before)),
  ];
}

/** What else can change of shards. */
export function stateColumns(records: readonly ShardRecord[]): Buffer[] {
  return [
    nameArray(records.map(({ status }) => status)),
    nameArray(records.map(({ parkReason }) => parkReason)),
    u64Array(records.map(({ lease }) => lease?.owner)),
    u64Array(records.map(({ lease }) => lease?.deadline)),
    u64Array(records.map(({ fenceEpoch }) => fenceEpoch)),
  ];
}

/** What never changes of shards. */
export function birthColumns(records: readonly ShardRecord[]): Buffer[] {
  return [u64Array(records.map(({ parent }) => parent)), byteaArray(records.map(({ spec }) => spec.keyRangeStart))];
}

/** Where new shards are put among those that are not finished. */
export function enteredColumns(records: readonly ShardRecord[]): Buffer[] {
  return [spreadColumn(records), ...placeColumns(records.map(placeOf))];
}

/** Where shards move among those that are not finished: the place that each leaves and the one that it takes, none where it stays. */
export function moveColumns(writes: readonly ShardWrite[]): Buffer[] {
  const left: (Place | undefined)[] = [];
  const taken: (Place | undefined)[] = [];
  for (const { before, after } of writes) {
    const [from, to] = [placeOf(before), placeOf(after)];
    const stays = isSamePlace(from, to);
    left.push(stays ? undefined : from);
    taken.push(stays ? undefined : to);
  }
  const spreads = spreadColumn(writes.map(({ after }) => after));
  return [spreads, ...placeColumns(left), ...placeColumns(taken)];
}

function spreadColumn(records: readonly ShardRecord[]): Buffer {
  return int8Array(records.map(({ shard }) => claimSpread(shard)));
}

function placeColumns(places: readonly (Place | undefined)[]): Buffer[] {
  return [nameArray(places.map((place) => place?.status)), u64Array(places.map((place) => place?.claimableAt))];
}

/** `before` as for `cursorColumns`. */
export function encodeOne(record: ShardRecord, before?: ShardRecord): Uint8Array {
  writer.reset();
  encodeShardRecordInto(record, writer, before);
  return writer.toOwned();
}

/** Views of the shared writer, good until it is next written. */
function encodeAll(records: readonly ShardRecord[], before: readonly ShardRecord[] | undefined): Uint8Array[] {
  writer.reset();
  const ends = records.map((record, index) => {
    encodeShardRecordInto(record, writer, before?.[index]);
    return writer.length;
  });
  const encoded = writer.view();
  return ends.map((end, index) => encoded.subarray(index === 0 ? 0 : ends[index - 1], end));
}
