import { assert, assertBytes } from "@gossip/stdx";

// Storage never starts at the first byte of its buffer. So a byte array whose `byteOffset` is zero cannot be a view of
// ours, and `isViewedBy` seldom has to read `buffer`: on a short array that V8 keeps inside its heap, reading it moves
// the bytes out, which costs more than copying a key.
const GAP = 8;

/**
 * Storage of a fixed capacity that holds one byte string at a time.
 *
 * The byte string is the first `length` bytes; the rest is undefined. Every write increments `generation`, so that
 * borrowed views can detect it.
 */
export abstract class ScratchBuf {
  /** All of the storage. Write to it, then call `commit` with the size that counts. */
  readonly bytes: Uint8Array;
  /** The same storage, for integers. */
  readonly words: DataView;
  #length = 0;
  #generation = 0;

  protected constructor(capacity: number) {
    const buffer = new ArrayBuffer(GAP + capacity);
    this.bytes = new Uint8Array(buffer, GAP, capacity);
    this.words = new DataView(buffer, GAP, capacity);
  }

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** How often the buffer was written. */
  get generation(): number {
    return this.#generation;
  }

  /** Make the first `length` bytes of the storage the byte string that it holds. */
  commit(length: number): void {
    // `>>>` instead of `Number.isInteger`: one comparison refuses fractions, NaN and negative numbers alike.
    if (length >>> 0 !== length || length > this.bytes.length) refuseLength(length, this.bytes.length);
    this.#length = length;
    this.#generation += 1;
  }

  /** Stores a copy of `bytes`, which may be a view of this buffer. Throws `InvariantViolation` beyond the capacity. */
  copyFromSlice(bytes: Uint8Array): void {
    assertBytes(bytes, "bytes");
    const size = bytes.length;
    if (size > this.bytes.length) refuseLength(size, this.bytes.length);
    this.bytes.set(bytes);
    this.commit(size);
  }

  /** A view of the byte string, valid until the next write. Do not keep it across an `await`. */
  asBytes(): Uint8Array {
    return this.bytes.subarray(0, this.#length);
  }

  /** A copy of the byte string. */
  toOwned(): Uint8Array {
    return this.bytes.slice(0, this.#length);
  }

  /** Whether writing to this buffer could change `bytes`. */
  isViewedBy(bytes: Uint8Array): boolean {
    assertBytes(bytes, "bytes");
    return bytes.byteOffset !== 0 && bytes.buffer === this.bytes.buffer;
  }
}

// Separate from the checks, so that those are small enough to be inlined.
function refuseLength(length: number, capacity: number): never {
  assert(false, `length must be a whole number from 0 to ${capacity}, got ${length}`);
}
