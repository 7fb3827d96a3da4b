/**
 * The slab counts space in granules of this many bytes.
 *
 * It is the smallest block, and every size class is a multiple of it, so that
 * every offset and size is a whole number of granules. Counted so they stay
 * below 2^28 however large the slab is, and fit a small integer.
 */
export const GRANULE = 16;

/** No block: the end of a chain. Record 0 is never given out. */
export const NIL = 0;

const FIRST_RECORD_COUNT = 64;

/**
 * The blocks that cover a slab from its start to its bump offset, each one live or free.
 *
 * A block is an index into these arrays, never an object: taking and giving back
 * blocks leaves nothing for the collector. The arrays grow by doubling and never
 * shrink, so a slab that has once held its most blocks allocates no more.
 */
export class SlabBlocks {
  /** In granules. */
  offsets = new Int32Array(FIRST_RECORD_COUNT);
  /** In granules. */
  sizes = new Int32Array(FIRST_RECORD_COUNT);
  /** Bytes stored in a live block. */
  lengths = new Uint32Array(FIRST_RECORD_COUNT);
  /**
   * Which allocation a live block is; zero in a free one and in an unused record.
   * A float counts to 2^53 without wrapping: a stamp never comes back.
   */
  stamps = new Float64Array(FIRST_RECORD_COUNT);
  /** The block before it in the slab. */
  previous = new Int32Array(FIRST_RECORD_COUNT);
  /** The block after it in the slab. In an unused record, the next unused one. */
  next = new Int32Array(FIRST_RECORD_COUNT);
  /** The block that ends at the bump offset. */
  last = NIL;

  #usedCount = 1;
  #firstUnused = NIL;

  /** How many records the arrays hold, record 0 included. */
  get recordCount(): number {
    return this.offsets.length;
  }

  /**
   * Make room for one more record.
   *
   * Done before anything else of an operation changes, since growing can fail.
   */
  reserve(): void {
    if (this.#firstUnused !== NIL || this.#usedCount < this.recordCount) return;
    const recordCount = this.recordCount * 2;
    // All of them before any is put in place: memory can run out at each.
    const offsets = grown(this.offsets, new Int32Array(recordCount));
    const sizes = grown(this.sizes, new Int32Array(recordCount));
    const lengths = grown(this.lengths, new Uint32Array(recordCount));
    const stamps = grown(this.stamps, new Float64Array(recordCount));
    const previous = grown(this.previous, new Int32Array(recordCount));
    const next = grown(this.next, new Int32Array(recordCount));
    Object.assign(this, { offsets, sizes, lengths, stamps, previous, next });
  }

  /** In granules: where the last block ends. Beyond it the slab has never been given out, or was given back. */
  get bump(): number {
    return this.last === NIL ? 0 : this.#endOf(this.last);
  }

  /** Add a free block that starts where `previous` ends, or at the slab's start where that is `NIL`. */
  insertAfter(previous: number, size: number): number {
    const block = this.#takeRecord();
    const next = previous === NIL ? NIL : this.next[previous]!;
    this.offsets[block] = previous === NIL ? 0 : this.#endOf(previous);
    this.sizes[block] = size;
    this.stamps[block] = 0;
    this.previous[block] = previous;
    this.next[block] = next;
    if (previous !== NIL) this.next[previous] = block;
    if (next === NIL) this.last = block;
    else this.previous[next] = block;
    return block;
  }

  /** Take a block out of the chain. To whom its space falls is for the caller to say. */
  remove(block: number): void {
    const previous = this.previous[block]!;
    const next = this.next[block]!;
    if (previous !== NIL) this.next[previous] = next;
    if (next === NIL) this.last = previous;
    else this.previous[next] = previous;
    this.stamps[block] = 0;
    this.next[block] = this.#firstUnused;
    this.#firstUnused = block;
  }

  /** Forget every block. Constant in time: records are written anew as they are taken. */
  clear(): void {
    this.last = NIL;
    this.#usedCount = 1;
    this.#firstUnused = NIL;
  }

  #endOf(block: number): number {
    return this.offsets[block]! + this.sizes[block]!;
  }

  #takeRecord(): number {
    const block = this.#firstUnused;
    if (block === NIL) return this.#usedCount++;
    this.#firstUnused = this.next[block]!;
    return block;
  }
}

function grown<A extends Int32Array | Uint32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
