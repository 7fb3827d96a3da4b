import { OTHERWISE, RECORD_HEAD, type PrefixTree } from "./prefix-tree.ts";

/** What the searches return for a key that no prefix covers. */
export const NO_PREFIX = -1;

/** What `findInText` returns if it needs the bytes of the text. */
export const NOT_BY_TEXT = -2;

/**
 * Finds the stored prefix of a key.
 *
 * The tree tests only the bytes at which prefixes differ. Each branch costs two loads. The record at the end is the
 * only prefix that can match, and one comparison of its bytes decides. So a key is read at most twice, whereas a
 * binary search would read it O(log n) times.
 */
export class PrefixIndex {
  // Copied into fields, so that a search needs no second object.
  readonly #slots: Int32Array;
  readonly #records: Int32Array;
  readonly #rootNext: number;
  readonly #rootDepth: number;

  constructor({ slots, records, rootNext, rootDepth }: PrefixTree) {
    this.#slots = slots;
    this.#records = records;
    this.#rootNext = rootNext;
    this.#rootDepth = rootDepth;
  }

  /**
   * The number of the prefix that covers the first `size` bytes of `key`. Only for a tree in which no
   * prefix is nested.
   *
   * Hot: allocates nothing.
   */
  find(key: Uint8Array, size: number): number {
    const slots = this.#slots;
    let next = this.#rootNext;
    let depth = this.#rootDepth;
    while (next >= 0) {
      // Everything below this branch is longer than the key.
      if (depth >= size) return NO_PREFIX;
      const byte = key[depth]!;
      const slot = (next + byte) << 1;
      const tag = slots[slot]!;
      if ((tag & 0x1ff) !== byte + 1) return NO_PREFIX;
      next = slots[slot + 1]!;
      depth = tag >>> 9;
    }

    const record = ~next;
    const prefixSize = this.#records[record + 1]!;
    if (prefixSize > size) return NO_PREFIX;
    return this.#sharedSize(key, prefixSize, record) === prefixSize ? this.#records[record]! : NO_PREFIX;
  }

  /**
   * Like `find`, for a key that is text, without encoding it; `NOT_BY_TEXT` if it must be encoded.
   *
   * A UTF-16 unit below 0x80 is one byte of UTF-8. While the text has only such units, it can be read
   * instead of its bytes.
   *
   * Hot: allocates nothing.
   */
  findInText(key: string): number {
    const slots = this.#slots;
    let next = this.#rootNext;
    let depth = this.#rootDepth;
    while (next >= 0) {
      if (depth >= key.length) return absentIfPlain(key, key.length);
      const unit = key.charCodeAt(depth);
      if (unit >= 0x80) return NOT_BY_TEXT;
      const slot = (next + unit) << 1;
      const tag = slots[slot]!;
      if ((tag & 0x1ff) !== unit + 1) return absentIfPlain(key, depth);
      next = slots[slot + 1]!;
      depth = tag >>> 9;
    }

    const records = this.#records;
    const record = ~next;
    const prefixSize = records[record + 1]!;
    if (prefixSize > key.length) return absentIfPlain(key, key.length);
    for (let index = 0; index < prefixSize; index++) {
      const unit = key.charCodeAt(index);
      if (unit >= 0x80) return NOT_BY_TEXT;
      // The text before the difference is ASCII, and every other candidate prefix agrees with this one there.
      if (unit !== ((records[record + RECORD_HEAD + (index >> 2)]! >>> ((index & 3) << 3)) & 0xff)) return NO_PREFIX;
    }
    return records[record]!;
  }

  /**
   * The number of the longest prefix that covers the first `size` bytes of `key`.
   *
   * Every stored prefix of the key is a prefix of every record below the last branch taken. So one of those
   * records is compared with the key, and the result is the longest of it and the prefixes around it that is no
   * longer than what the two share.
   *
   * Hot: allocates nothing.
   */
  findLongest(key: Uint8Array, size: number): number {
    const slots = this.#slots;
    let next = this.#rootNext;
    let depth = this.#rootDepth;
    while (next >= 0) {
      let slot = (next + OTHERWISE) << 1;
      if (depth < size) {
        const byte = key[depth]!;
        const fitting = (next + byte) << 1;
        const tag = slots[fitting]!;
        if ((tag & 0x1ff) === byte + 1) {
          slot = fitting;
          depth = tag >>> 9;
        }
      }
      next = slots[slot + 1]!;
    }

    const records = this.#records;
    let record = ~next;
    const shared = this.#sharedSize(key, Math.min(size, records[record + 1]!), record);
    while (records[record + 1]! > shared) {
      record = records[record + 2]!;
      if (record < 0) return NO_PREFIX;
    }
    return records[record]!;
  }

  /** How many of the first `limit` bytes of the key are those of the record's prefix. */
  #sharedSize(key: Uint8Array, limit: number, record: number): number {
    const records = this.#records;
    const start = record + RECORD_HEAD;
    let index = 0;
    // Four bytes a step nearly halves a search among few prefixes. The key itself cannot be read as
    // words, because it may begin anywhere in its buffer.
    for (; index + 4 <= limit; index += 4) {
      const word = key[index]! | (key[index + 1]! << 8) | (key[index + 2]! << 16) | (key[index + 3]! << 24);
      if (word !== records[start + (index >> 2)]!) break;
    }
    while (index < limit && key[index] === ((records[start + (index >> 2)]! >>> ((index & 3) << 3)) & 0xff)) index += 1;
    return index;
  }
}

/** `NO_PREFIX` if the units before `end` are all ASCII, so that text and bytes agree; else `NOT_BY_TEXT`. */
function absentIfPlain(key: string, end: number): number {
  for (let index = 0; index < end; index++) {
    if (key.charCodeAt(index) >= 0x80) return NOT_BY_TEXT;
  }
  return NO_PREFIX;
}
