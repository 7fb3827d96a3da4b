import type { ShardRecord } from "@gossip/coordination";
import { assertCount, type Result } from "@gossip/stdx";
import type { CodecError } from "./codec-error.ts";
import { decodeShardIn } from "./decode-shard-record.ts";
import { FieldReader } from "./field-reader.ts";

/**
 * Where records are decoded from that lie in one buffer, such as those of a listing.
 *
 * All of them are read through one view of the buffer: those that `decodeShardRecord` makes for one record are as much garbage
 * as the record itself. The bytes must stay as they are for as long as it is used; the records own what they hold.
 */
export class RecordReader {
  readonly #size: number;
  readonly #fields: FieldReader;

  constructor(bytes: Uint8Array) {
    this.#fields = new FieldReader(bytes);
    this.#size = bytes.length;
  }

  /**
   * `decodeShardRecord` of the bytes from `start` up to `end`. Places that are not in the buffer are an `InvariantViolation`.
   *
   * They go in bare, as those of a checksum do: it is called for every record of a listing.
   */
  shardRecord(start: number, end: number): Result<ShardRecord, CodecError> {
    if (!isPlace(end, this.#size) || !isPlace(start, end)) refusePlaces(start, end, this.#size);
    return decodeShardIn(this.#fields, start, end);
  }
}

function isPlace(place: number, max: number): boolean {
  return Number.isInteger(place) && place >= 0 && place <= max;
}

// Apart from the check, which so makes nothing where there is nothing to refuse.
function refusePlaces(start: number, end: number, size: number): void {
  assertCount(end, "end of a record", { min: 0, max: size });
  assertCount(start, "start of a record", { min: 0, max: end });
}
