/**
 * Where a `ByteSlab` keeps one byte string.
 *
 * A slot is a value and may be copied with `copy`. Every copy names the same bytes, and freeing one makes all of them
 * stale. The numbers are for reading only.
 *
 * A new slot is empty, like `ByteSlot.EMPTY`. It belongs to no slab, every slab reads it as the empty byte string, and
 * freeing it does nothing. Make one to have something for `ByteSlab.allocateInto` to write to.
 */
export class ByteSlot {
  /** The slot of the empty byte string. It is shared, so no slab writes to it. */
  static readonly EMPTY: ByteSlot = new ByteSlot();

  static {
    Object.freeze(this.EMPTY);
  }

  /** The offset of the first byte in the slab. */
  readonly offset: number = 0;
  /** Bytes stored. */
  readonly length: number = 0;
  /** Bytes taken from the slab to store them. */
  readonly allocSize: number = 0;
  /** The id that the slab had then; zero in an empty slot. */
  readonly ownerId: number = 0;

  /** The block of the slab, and how often that had been freed before: the slab detects stale slots by them. */
  readonly block: number = 0;
  readonly generation: number = 0;

  get isEmpty(): boolean {
    return this.ownerId === 0;
  }

  copy(): ByteSlot {
    return Object.assign(new ByteSlot(), this);
  }
}

/** A slot that can be written. Only the slab does, with `slot as OpenSlot`. */
export type OpenSlot = { -readonly [Field in keyof ByteSlot]: ByteSlot[Field] };
