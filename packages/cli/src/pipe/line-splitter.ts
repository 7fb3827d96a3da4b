const NEWLINE = 0x0a;

/** Splits the output of a process into lines. */
export class LineSplitter {
  readonly #maxSize: number;
  /** The beginning of a line that has no end yet. */
  #pieces: Buffer[] = [];
  #size = 0;

  /** `maxSize` is the longest line, in bytes. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** Whether the current line is longer than allowed. */
  get isOverfull(): boolean {
    return this.#size > this.#maxSize;
  }

  /** Returns the lines that end in this chunk, without their line ends. */
  push(chunk: Buffer): readonly string[] {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) {
      this.#keep(chunk);
      return [];
    }
    this.#keep(chunk.subarray(0, last));
    // Decoded at once: one call for each line costs more than the decoding.
    const lines = this.#take().split("\n");
    this.#keep(chunk.subarray(last + 1));
    return lines;
  }

  /** Returns the last line if it has no line end. */
  end(): readonly string[] {
    return this.#size === 0 ? [] : [this.#take()];
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#size += piece.length;
  }

  #take(): string {
    const text = (this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)).toString("utf8");
    this.#pieces = [];
    this.#size = 0;
    return text;
  }
}
