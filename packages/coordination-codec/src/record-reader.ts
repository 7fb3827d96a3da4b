import type { ShardRecord } from "@gossip/coordination";
import { assertCount, type Result } from "@gossip/stdx";
import type { CodecError } from "./codec-error.ts";
import { decodeShardIn } from "./decode-shard-record.ts";
import { FieldReader } from "./field-reader.ts";

/**
 * Decodes records that lie in one buffer, such as those of a listing.
 *
 * All of them are read through one view of the buffer: a view per record would be as much garbage as the record itself.
 * The bytes must not change while the reader is used. The records own their data.
 */
export class RecordReader {
  readonly #size: number;
  readonly #fields: FieldReader;

  constructor(bytes: Uint8Array) {
    this.#fields = new FieldReader(bytes);
    this.#size = bytes.length;
  }

  /**
   * Decodes the bytes from `start` up to `end`, like `decodeShardRecord`. Throws `InvariantViolation` if they are not
   * in the buffer.
   *
   * Takes plain offsets instead of an object: it is called for every record of a listing.
   */
  shardRecord(start: number, end: number): Result<ShardRecord, CodecError> {
    if (!isOffset(end, this.#size) || !isOffset(start, end)) refuseOffsets(start, end, this.#size);
    return decodeShardIn(this.#fields, start, end);
  }
}

function isOffset(offset: number, max: number): boolean {
  return Number.isInteger(offset) && offset >= 0 && offset <= max;
}

// Separate from the check, which then allocates nothing if there is nothing to refuse.
function refuseOffsets(start: number, end: number, size: number): void {
  assertCount(end, "end of a record", { min: 0, max: size });
  assertCount(start, "start of a record", { min: 0, max: end });
}
