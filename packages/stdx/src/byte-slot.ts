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

  // For the slab: the block, and the allocation of that block. Not `#fields`, because the slab writes them at each
  // allocation, and doing so through methods took a sixth longer.
  private readonly block: number = 0;
  private readonly stampLow: number = 0;
  private readonly stampHigh: number = 0;

  get isEmpty(): boolean {
    return this.ownerId === 0;
  }

  copy(): ByteSlot {
    const slot = new ByteSlot();
    const open = slot as unknown as OpenSlot;
    open.offset = this.offset;
    open.length = this.length;
    open.allocSize = this.allocSize;
    open.ownerId = this.ownerId;
    open.block = this.block;
    open.stampLow = this.stampLow;
    open.stampHigh = this.stampHigh;
    return slot;
  }
}

/** A slot with its internal fields. Use `slot as unknown as OpenSlot`: a function would cost a call. */
export interface OpenSlot {
  offset: number;
  length: number;
  allocSize: number;
  ownerId: number;
  block: number;
  stampLow: number;
  stampHigh: number;
}
