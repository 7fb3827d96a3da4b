import { assert } from "@gossip/stdx";
import { assertObject, HIGH, LOW } from "@gossip/stdx/internal";
import { isPhysicalMs, MAX_GRANT_COUNT } from "./limits.ts";
import type { Timestamp } from "./timestamp.ts";

/** 2^14: what is left of a 32-bit word beside the 18 logical bits. */
const MS_PER_LOW_WORD = 16_384;

/** `append` for the allocator, which has taken the millisecond apart and checked the rest. */
export let appendWords: (buf: TimestampBuf, words: MillisecondWords, logicalStart: number, count: number) => void;

/**
 * Room for timestamps that a caller owns and reuses.
 *
 * Grants are appended in order and can be read as one `BigUint64Array`. They are
 * written as pairs of 32-bit words: a bigint for each would cost more than the
 * grant itself.
 */
export class TimestampBuf {
  readonly capacity: number;
  readonly #values: BigUint64Array;
  readonly #words: Uint32Array;
  #length = 0;

  constructor(capacity: number) {
    assert(
      Number.isInteger(capacity) && capacity > 0,
      "a timestamp buffer holds a whole number of timestamps, at least 1",
    );
    this.capacity = capacity;
    this.#values = new BigUint64Array(capacity);
    this.#words = new Uint32Array(this.#values.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** How many more timestamps fit. */
  get room(): number {
    return this.capacity - this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  at(index: number): Timestamp {
    assert(Number.isInteger(index) && index >= 0 && index < this.#length, "the index lies below the buffer's length");
    return this.#values[index] as Timestamp;
  }

  /** The timestamps held now. It is a view: the next `clear` and grant overwrite it. */
  view(): BigUint64Array {
    return this.#values.subarray(0, this.#length);
  }

  /** Append `count` timestamps that follow one another within one millisecond. */
  append(grant: { readonly physicalMs: number; readonly logicalStart: number; readonly count: number }): void {
    assertObject(grant, "what is appended");
    const { physicalMs, logicalStart, count } = grant;
    assert(isPhysicalMs(physicalMs), "the grant's millisecond fits in 46 bits");
    assert(Number.isInteger(count) && count >= 0, "the grant holds a whole number of timestamps");
    assert(
      Number.isInteger(logicalStart) && logicalStart >= 0 && logicalStart + count <= MAX_GRANT_COUNT,
      "the grant lies within one millisecond",
    );
    this.#append(wordsOf(physicalMs), logicalStart, count);
  }

  static {
    appendWords = (buf, words, logicalStart, count) => buf.#append(words, logicalStart, count);
  }

  #append(words: MillisecondWords, logicalStart: number, count: number): void {
    assert(count <= this.capacity - this.#length, "the buffer has room for the grant");
    const { high, low } = words;
    const target = this.#words;
    let word = this.#length * 2;
    const end = word + count * 2;
    let next = low | logicalStart;
    // Four at a time: two stores a turn leave the loop's own bookkeeping dearer than the writing.
    for (; word + 6 < end; word += 8) {
      target[word + LOW] = next;
      target[word + HIGH] = high;
      target[word + 2 + LOW] = next + 1;
      target[word + 2 + HIGH] = high;
      target[word + 4 + LOW] = next + 2;
      target[word + 4 + HIGH] = high;
      target[word + 6 + LOW] = next + 3;
      target[word + 6 + HIGH] = high;
      next = (next + 4) | 0;
    }
    for (; word < end; word += 2) {
      target[word + LOW] = next;
      target[word + HIGH] = high;
      next = (next + 1) | 0;
    }
    this.#length += count;
  }
}

/** A millisecond as the two words of its first timestamp. */
export interface MillisecondWords {
  readonly high: number;
  readonly low: number;
}

/** Take a millisecond apart. Divisions: done once a millisecond, not once a grant. */
export function wordsOf(physicalMs: number): MillisecondWords {
  // Signed: V8 keeps a 32-bit integer in the field itself, and a number above 2^31 on the heap.
  return {
    high: Math.floor(physicalMs / MS_PER_LOW_WORD) | 0,
    low: ((physicalMs % MS_PER_LOW_WORD) * MAX_GRANT_COUNT) | 0,
  };
}
