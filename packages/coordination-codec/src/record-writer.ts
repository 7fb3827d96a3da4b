import { FieldWriter } from "./field-writer.ts";

/**
 * A buffer that records are appended to.
 *
 * Keep it and `reset` it: once the buffer has grown, encoding allocates nothing. A record counts only when it is
 * complete, so one that is refused halfway leaves nothing behind.
 */
export interface RecordWriter {
  /** The size of the records since the last `reset`, in bytes. */
  readonly length: number;
  /** A view of the records from `start` on, valid until the next write or `reset`. */
  view(start?: number): Uint8Array;
  /** A copy of the records from `start` on. */
  toOwned(start?: number): Uint8Array;
  /** Drops all records. Earlier views are no longer valid. */
  reset(): void;
}

export interface RecordWriterConstructor {
  new (): RecordWriter;
}

/** The methods that write single fields are internal. */
export const RecordWriter: RecordWriterConstructor = FieldWriter;
