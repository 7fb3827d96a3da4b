import { assert } from "./assert.ts";
import { nameType } from "./name-type.ts";
import { GRANULE, type SlabBlocks } from "./slab-blocks.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Writes into `slot` the block that a slab hands out. */
type WriteSlot = (slot: ByteSlot, blocks: SlabBlocks, block: number, ownerId: number) => void;

// `ByteSlab` is in another file, and a `#field` is open to its own class only. These are the doors; the
// package's entry does not export them.
export let writeSlot: WriteSlot;
export let slotBlock: (slot: ByteSlot) => number;
export let slotStamp: (slot: ByteSlot) => number;
let isSlot: (value: unknown) => boolean;

/**
 * Where a `ByteSlab` keeps one byte string.
 *
 * A slot is a value: `copy` it at will. Every copy names the same bytes, and
 * freeing one makes all of them stale. The numbers that show are for reading
 * only: the slab trusts its own records, not them.
 *
 * A new slot is empty, as `ByteSlot.EMPTY` is. It belongs to no slab, every slab
 * reads it as the empty byte string, and freeing it does nothing. Make one to
 * have something for `ByteSlab.allocateInto` to write to.
 */
export class ByteSlot {
  /** The slot of the empty byte string. It is shared, so no slab writes to it. */
  static readonly EMPTY: ByteSlot = new ByteSlot();

  /** Of the first byte, from the start of the slab. */
  readonly offset: number = 0;
  /** Bytes stored. */
  readonly length: number = 0;
  /** Bytes taken from the slab to store them. */
  readonly allocSize: number = 0;
  /** The id that the slab had then; zero in an empty slot. */
  readonly ownerId: number = 0;
  #block = 0;
  #stamp = 0;

  get isEmpty(): boolean {
    return this.ownerId === 0;
  }

  copy(): ByteSlot {
    const slot = new ByteSlot();
    const open: Writable<ByteSlot> = slot;
    open.offset = this.offset;
    open.length = this.length;
    open.allocSize = this.allocSize;
    open.ownerId = this.ownerId;
    slot.#block = this.#block;
    slot.#stamp = this.#stamp;
    return slot;
  }

  static {
    Object.freeze(this.EMPTY);
    isSlot = (value) => typeof value === "object" && value !== null && #block in value;
    slotBlock = (slot) => slot.#block;
    slotStamp = (slot) => slot.#stamp;
    writeSlot = (slot, blocks, block, ownerId) => {
      const open: Writable<ByteSlot> = slot;
      open.offset = blocks.offsets[block]! * GRANULE;
      open.length = blocks.lengths[block]!;
      open.allocSize = blocks.sizes[block]! * GRANULE;
      open.ownerId = ownerId;
      slot.#block = block;
      slot.#stamp = blocks.stamps[block]!;
    };
  }
}

/** Assert that a value came from this class; anything else would fail somewhere inside. */
export function assertSlot(value: unknown): asserts value is ByteSlot {
  if (!isSlot(value)) refuse(value);
}

function refuse(value: unknown): never {
  assert(false, `slot must be a ByteSlot, got ${nameType(value)}`);
}
