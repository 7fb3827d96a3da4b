import { assert, assertBytes, assertCount, nameType } from "./assert.ts";
import { equalBytes } from "./compare-bytes.ts";
import { INSPECT } from "./inspect-symbol.ts";

const MAX_BUF_CAPACITY = 2 ** 32 - 1;
const SHOWN_BYTES = 8;

/**
 * One byte string of up to `capacity` bytes, to be written again and again.
 *
 * The memory is taken once. `read` lends a view of it: good until the next `write`, `commit` or `reset`.
 *
 * To write in place, fill `bytes` from its start and `commit` the length; that and `write` allocate nothing.
 */
export class FixedBuf {
  readonly #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    assertCount(capacity, "capacity", { min: 0, max: MAX_BUF_CAPACITY });
    this.#bytes = new Uint8Array(capacity);
  }

  /** A buffer that holds these bytes. Throws with `oversizedMessage` if there are more than `capacity`. */
  static fromSlice(bytes: Uint8Array, capacity: number, oversizedMessage: string): FixedBuf {
    const buf = new FixedBuf(capacity);
    buf.write(bytes, oversizedMessage);
    return buf;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** How many bytes are written. */
  get length(): number {
    return this.#length;
  }

  /** All of the memory, for writing in place. Only what lies before `length` means anything. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get hasData(): boolean {
    return this.#length > 0;
  }

  /**
   * Replace what is written.
   *
   * Throws `InvariantViolation` with `oversizedMessage` and both sizes where the bytes do not fit: use it if the size
   * was checked before.
   */
  write(bytes: Uint8Array, oversizedMessage: string): void {
    const isWritten = this.tryWrite(bytes);
    assert(isWritten, () => `${oversizedMessage}: ${bytes.length} bytes, room for ${this.capacity}`);
  }

  /** Replace what is written. Returns `false` and changes nothing if the bytes do not fit. */
  tryWrite(bytes: Uint8Array): boolean {
    assertBytes(bytes, "bytes");
    if (bytes.length > this.#bytes.length) return false;
    this.#bytes.set(bytes);
    this.#length = bytes.length;
    return true;
  }

  /** Declare the first `length` bytes written: what is in `bytes` there is now the content. */
  commit(length: number): void {
    assertCount(length, "length", { min: 0, max: this.capacity });
    this.#length = length;
  }

  /** The bytes written, as a view. */
  read(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empty the buffer. The memory keeps what was in it. */
  reset(): void {
    this.#length = 0;
  }

  /** A buffer of the same content and capacity that changes apart from this one. */
  clone(): FixedBuf {
    const buf = new FixedBuf(this.capacity);
    buf.tryWrite(this.read());
    return buf;
  }

  /** Whether the same bytes are written, whatever the capacities. */
  equals(other: FixedBuf): boolean {
    assert(other instanceof FixedBuf, () => `other must be a FixedBuf, got ${nameType(other)}`);
    return equalBytes(this.read(), other.read());
  }

  /** The sizes and the first eight bytes. JSON has none of it. */
  [INSPECT](): string {
    const shown = Array.from(this.read().subarray(0, SHOWN_BYTES), (byte) => byte.toString(16).padStart(2, "0"));
    return `FixedBuf(${this.#length} of ${this.capacity}: ${shown.join("")}${this.#length > SHOWN_BYTES ? "…" : ""})`;
  }
}
