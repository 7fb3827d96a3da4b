import { FieldWriter } from "./field-writer.ts";

/**
 * Where records are encoded to, one behind the other.
 *
 * Meant to be kept and `reset`: once its buffer has grown, encoding allocates
 * nothing. A record counts only when it is whole, so that one which was refused
 * half-way leaves nothing behind.
 */
export interface RecordWriter {
  /** Bytes of the records that were encoded since the last `reset`. */
  readonly length: number;
  /** What was encoded, from `start` on; borrowed, and good until the next write or `reset`. */
  view(start?: number): Uint8Array;
  /** A copy of what was encoded, from `start` on. */
  toOwned(start?: number): Uint8Array;
  /** Forget what was encoded. A view from before is no longer good. */
  reset(): void;
}

export interface RecordWriterConstructor {
  new (): RecordWriter;
}

/** How single fields are written is the codec's own, and not shown. */
export const RecordWriter: RecordWriterConstructor = FieldWriter;
