import type { Item } from "../../source/source.ts";
import { lineKey } from "./line-offsets.ts";

/** A piece of a file, shared by the lines in it. */
export interface LineChunk {
  readonly bytes: Buffer;
  /** Where in the file it begins. */
  readonly offset: number;
  /** What the keys of its lines begin with. */
  readonly prefix: Uint8Array;
}

/**
 * A line of a file, without what ends it.
 *
 * It is a place in the piece of the file that was read, and nothing is decoded until it is asked for: a run
 * touches every line, and the key of one in some thousands. Whoever keeps an item keeps that piece.
 */
export class LineItem implements Item {
  readonly #chunk: LineChunk;
  readonly #start: number;
  readonly #end: number;

  constructor(chunk: LineChunk, start: number, end: number) {
    this.#chunk = chunk;
    this.#start = start;
    this.#end = end;
  }

  get key(): Uint8Array {
    return lineKey(this.#chunk.prefix, this.offset);
  }

  /** Of its first byte in the file. */
  get offset(): number {
    return this.#chunk.offset + this.#start;
  }

  /** What is not valid UTF-8 becomes U+FFFD. */
  get line(): string {
    return this.#chunk.bytes.toString("utf8", this.#start, this.#end);
  }

  /** As they are in the file. A view: do not write to it. */
  get bytes(): Uint8Array {
    return this.#chunk.bytes.subarray(this.#start, this.#end);
  }
}
