/** The output of one item on one stream. */
export interface Captured {
  readonly bytes: Buffer;
  /** How many bytes were dropped. */
  readonly droppedSize: number;
}

const NOTHING = Buffer.alloc(0);
const LINE_END = 0x0a;

/**
 * Splits a stream that carries the output of one item after another. Each output ends with a marker that no item can
 * know, the rest of the marker's line, and a line end.
 */
export class MarkedOutput {
  readonly #marker: Buffer;
  readonly #maxSize: number;
  #kept: Buffer[] = [];
  #keptSize = 0;
  #droppedSize = 0;
  /** Bytes that may be the start of the marker, or the marker without its line end. */
  #tail: Buffer = NOTHING;

  constructor(options: { readonly marker: string; readonly maxSize: number }) {
    this.#marker = Buffer.from(options.marker, "latin1");
    this.#maxSize = options.maxSize;
  }

  /** Returns the rest of the marker's line if the item's output ends in this chunk. */
  push(chunk: Buffer): string | undefined {
    const data = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const found = data.indexOf(this.#marker);
    if (found === -1) {
      const safe = Math.max(0, data.length - this.#marker.length + 1);
      this.#keep(data.subarray(0, safe));
      this.#tail = data.subarray(safe);
      return undefined;
    }
    const lineEnd = data.indexOf(LINE_END, found + this.#marker.length);
    this.#keep(data.subarray(0, found));
    if (lineEnd === -1) {
      this.#tail = data.subarray(found);
      return undefined;
    }
    // Only a process that a command left running can write after the marker. Its output belongs to no item.
    this.#tail = NOTHING;
    return data.toString("latin1", found + this.#marker.length, lineEnd);
  }

  /** Returns the output so far and clears it. */
  take(): Captured {
    const captured = {
      bytes: this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept),
      droppedSize: this.#droppedSize,
    };
    this.#kept = [];
    this.#keptSize = 0;
    this.#droppedSize = 0;
    return captured;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const room = this.#maxSize - this.#keptSize;
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#droppedSize += bytes.length - kept.length;
    if (kept.length === 0) return;
    this.#kept.push(kept);
    this.#keptSize += kept.length;
  }
}
