import { assertBytes, assertCount } from "@gossip/stdx";
import { assertU64 } from "../ids/u64.ts";

const U8 = { min: 0, max: 0xff } as const;
const U32 = { min: 0, max: 0xffff_ffff } as const;
const DEFAULT_CAPACITY = 256;

/** A larger buffer, grown for one large plan, is not kept. */
const KEPT_CAPACITY = 64 * 1024;

/**
 * Builds the canonical bytes that are hashed.
 *
 * Integers are little-endian and of fixed width; a byte string of variable length follows its length, so that different
 * sequences of fields never have the same bytes. This layout never changes: derived ids and logged hashes depend on it.
 *
 * Keep one and `reset` it: once its buffer has grown, writing allocates nothing.
 */
export class CanonicalWriter {
  #bytes = new Uint8Array(DEFAULT_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  /** The last view: most messages have the size of the one before, and making a view takes longer than hashing one. */
  #last = this.#bytes.subarray(0, 0);

  /** Bytes written since the last `reset`. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    assertCount(value, "u8 field", U8);
    const offset = this.#claim(1);
    this.#bytes[offset] = value;
  }

  u32(value: number): void {
    assertCount(value, "u32 field", U32);
    const offset = this.#claim(4);
    this.#view.setUint32(offset, value, true);
  }

  u64(value: bigint): void {
    assertU64(value, "u64 field");
    const offset = this.#claim(8);
    this.#view.setBigUint64(offset, value, true);
  }

  /** Bytes of a fixed size, such as a tenant id or a tag. They have no length field. */
  fixedBytes(value: Uint8Array): void {
    assertBytes(value, "bytes field");
    const offset = this.#claim(value.length);
    this.#bytes.set(value, offset);
  }

  /** Bytes of any size, after their length. */
  bytes(value: Uint8Array): void {
    assertBytes(value, "bytes field");
    this.u32(value.length);
    this.fixedBytes(value);
  }

  /** Discards what was written. Earlier views become invalid. */
  reset(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT_CAPACITY) this.#resize(KEPT_CAPACITY);
  }

  /** A view of what was written, valid until the next write or `reset`. */
  view(): Uint8Array {
    if (this.#last.length !== this.#length) this.#last = this.#bytes.subarray(0, this.#length);
    return this.#last;
  }

  /** Make room for `size` bytes at the end and return where they start. */
  #claim(size: number): number {
    const start = this.#length;
    const end = start + size;
    // `#resize` swaps the buffer, so callers look it up after this.
    if (end > this.#bytes.length) this.#resize(Math.max(end, 2 * this.#bytes.length));
    this.#length = end;
    return start;
  }

  #resize(capacity: number): void {
    const grown = new Uint8Array(capacity);
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
    this.#last = grown.subarray(0, 0);
  }
}
