import { hash } from "node:crypto";

const WORDS = 4;
const FIRST_CAPACITY = 1024;

/**
 * The entries seen so far, by 128 bits of their SHA-256.
 *
 * A table of numbers takes 16 bytes for an entry, and a half more that is free. A `Set` would take several times that,
 * and ends at 16 million.
 */
export class EntrySet {
  #table = new Uint32Array(FIRST_CAPACITY * WORDS);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** Returns whether it is new. */
  add(entry: Uint8Array): boolean {
    const digest = hash("sha256", entry, "buffer");
    const words = [0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset));
    // Zero marks a free slot.
    words[0] ||= 1;
    if (!this.#insert(words)) return false;
    this.#count++;
    if (this.#count * 3 > this.#capacity * 2) this.#grow();
    return true;
  }

  get #capacity(): number {
    return this.#table.length / WORDS;
  }

  #insert(words: readonly number[]): boolean {
    const table = this.#table;
    const mask = this.#capacity - 1;
    for (let slot = words[1]! & mask; ; slot = (slot + 1) & mask) {
      const at = slot * WORDS;
      if (table[at] === 0) {
        table.set(words, at);
        return true;
      }
      if (words.every((word, index) => table[at + index] === word)) return false;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) if (old[at] !== 0) this.#insert([...old.subarray(at, at + WORDS)]);
  }
}
