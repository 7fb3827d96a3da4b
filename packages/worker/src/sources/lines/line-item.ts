import type { Item } from "../source.ts";
import { lineKey } from "./line-offsets.ts";

/** A chunk of a file, shared by the lines in it. */
export interface LineChunk {
  readonly bytes: Buffer;
  /** Its offset in the file. */
  readonly offset: number;
  /** The common prefix of its lines' keys. */
  readonly prefix: Uint8Array;
}

/**
 * A line of a file, without its line ending.
 *
 * It refers to the chunk that was read, and decodes nothing until asked: a run reads every line, but needs the key of
 * only one in some thousands. An item keeps its whole chunk in memory.
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

  /** The offset of its first byte in the file. */
  get offset(): number {
    return this.#chunk.offset + this.#start;
  }

  /** The text. Invalid UTF-8 becomes U+FFFD. */
  get line(): string {
    return this.#chunk.bytes.toString("utf8", this.#start, this.#end);
  }

  /** The bytes as they are in the file. A view: do not write to it. */
  get bytes(): Uint8Array {
    return this.#chunk.bytes.subarray(this.#start, this.#end);
  }
}
