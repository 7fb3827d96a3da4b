import { assert, InvariantViolation } from "./assert.ts";
import { assertBytes } from "./assert-bytes.ts";
import { assertCount } from "./assert-count.ts";
import { assertSlot, ByteSlot, slotBlock, slotStamp, writeSlot } from "./byte-slot.ts";
import { FreeTree } from "./free-tree.ts";
import { err, ok, type Result } from "./result.ts";
import { classGranules, largestClassWithin, MAX_BLOCK_SIZE } from "./size-class.ts";
import { GRANULE, NIL, SlabBlocks } from "./slab-blocks.ts";
import type { SlabFull } from "./slab-full.ts";

/** Largest capacity of a slab, in bytes. */
export const MAX_SLAB_CAPACITY = 2 ** 32 - 1;

/** What freed bytes are overwritten with where `poisonFreed` is set. */
const POISON = 0xde;

/** Below this many bytes a loop copies faster than a view of the bytes can be made. */
const SHORT_COPY = 64;

const NO_BYTES = new Uint8Array(0);
const EMPTY_SLOT = ok(ByteSlot.EMPTY);

/** Zero is the owner of empty slots, so ids start at one. */
let lastOwnerId = 0;

/** Aids for finding mistakes. Both are off by default: they cost time, and change no answer. */
export interface ByteSlabOptions {
  /** Overwrite bytes with `de` as they are freed, so that a view kept too long shows it. */
  readonly poisonFreed?: boolean;
  /** Let disposal throw where something is still allocated. */
  readonly checkLeaks?: boolean;
}

/**
 * Byte strings of any size in one buffer that is allocated once.
 *
 * Each takes a block of the next power of two, 16 bytes at least. Space is taken
 * from the smallest free block that is large enough, the lowest of several, and
 * else from the end of what is in use. Freed neighbours merge at once.
 *
 * A slot that is foreign, freed, or from before `clear` is always caught, by
 * every method that takes one, and throws `InvariantViolation`: reading it would
 * show another's bytes, and freeing it would free them.
 *
 * `allocateInto` and `deallocate` leave nothing for the collector. Their time
 * grows with the logarithm of the number of free blocks.
 */
export class ByteSlab {
  readonly #bytes: Uint8Array;
  readonly #poisonFreed: boolean;
  readonly #checkLeaks: boolean;
  readonly #blocks = new SlabBlocks();
  readonly #freeTree = new FreeTree(this.#blocks);
  #ownerId = ++lastOwnerId;
  #lastStamp = 0;
  #liveCount = 0;
  // In granules, as in the blocks.
  #liveSize = 0;
  #freeSize = 0;
  #highestBump = 0;

  /** `capacity` is in bytes, up to 2^32 - 1. */
  constructor(capacity: number, options: ByteSlabOptions = {}) {
    assertCount(capacity, "slab capacity", { min: 0, max: MAX_SLAB_CAPACITY });
    assert(typeof options === "object" && options !== null, "slab options must be an object");
    this.#bytes = allocateBuffer(capacity);
    this.#poisonFreed = options.poisonFreed ?? false;
    this.#checkLeaks = options.checkLeaks ?? false;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** The id that slots of this slab carry. `clear` changes it. */
  get ownerId(): number {
    return this.#ownerId;
  }

  /** Bytes in blocks that are handed out: `allocSize` of every live slot, added up. */
  get liveBytes(): number {
    return this.#liveSize * GRANULE;
  }

  get liveCount(): number {
    return this.#liveCount;
  }

  /** Everything from here to the capacity is in no block. */
  get bumpOffset(): number {
    return this.#blocks.bump * GRANULE;
  }

  get freeListBytes(): number {
    return this.#freeSize * GRANULE;
  }

  /** An upper bound, not a promise: these bytes may lie scattered. `refusalFor` knows what fits. */
  get availableBytes(): number {
    return this.capacity - this.liveBytes;
  }

  get isEmpty(): boolean {
    return this.#liveCount === 0;
  }

  /** Store a copy of `bytes`. The empty byte string is `ByteSlot.EMPTY` and takes no space. */
  allocate(bytes: Uint8Array): Result<ByteSlot, SlabFull> {
    assertBytes(bytes, "bytes");
    if (bytes.length === 0) return EMPTY_SLOT;
    const slot = new ByteSlot();
    return this.allocateInto(bytes, slot) ? ok(slot) : err(this.#refusal(bytes.length));
  }

  /**
   * Store a copy of `bytes` and write where it is into `slot`.
   *
   * Returns `false`, and leaves `slot` as it was, where there is no room;
   * `refusalFor` then tells why. What `slot` named before is not freed.
   *
   * Allocates nothing once the slab has seen as many blocks before.
   */
  allocateInto(bytes: Uint8Array, slot: ByteSlot): boolean {
    assertBytes(bytes, "bytes");
    assertSlot(slot);
    assert(slot !== ByteSlot.EMPTY, "ByteSlot.EMPTY is shared and cannot be written to: make a new ByteSlot");
    const block = this.#store(bytes);
    if (block === NIL && bytes.length > 0) return false;
    writeSlot(slot, this.#blocks, block, block === NIL ? 0 : this.#ownerId);
    return true;
  }

  /** The error that allocating `size` bytes would be refused with now; `undefined` where it would succeed. */
  refusalFor(size: number): SlabFull | undefined {
    assertCount(size, "size", { min: 0, max: Number.MAX_SAFE_INTEGER });
    if (size === 0) return undefined;
    const refusal = this.#refusal(size);
    return refusal.requested <= refusal.available ? undefined : refusal;
  }

  /**
   * The bytes of a slot: a view, good until the slot is freed or the slab cleared.
   *
   * Nothing guards the view itself. Copy what you keep (`toOwned`, `copyInto`),
   * and do so before the next `await`.
   */
  get(slot: ByteSlot): Uint8Array {
    const block = this.#liveBlock(slot);
    if (block === NIL) return NO_BYTES;
    const start = this.#blocks.offsets[block]! * GRANULE;
    return this.#bytes.subarray(start, start + this.#blocks.lengths[block]!);
  }

  /** A copy of the bytes of a slot. */
  toOwned(slot: ByteSlot): Uint8Array {
    const block = this.#liveBlock(slot);
    if (block === NIL) return new Uint8Array(0);
    const start = this.#blocks.offsets[block]! * GRANULE;
    return this.#bytes.slice(start, start + this.#blocks.lengths[block]!);
  }

  /** Copy the bytes of a slot to the start of `out`, and return how many they are. */
  copyInto(slot: ByteSlot, out: Uint8Array): number {
    const block = this.#liveBlock(slot);
    assertBytes(out, "out");
    if (block === NIL) return 0;
    const length = this.#blocks.lengths[block]!;
    assert(length <= out.length, () => `slot of ${length} bytes does not fit into ${out.length}`);
    const start = this.#blocks.offsets[block]! * GRANULE;
    if (length <= SHORT_COPY) {
      for (let index = 0; index < length; index++) out[index] = this.#bytes[start + index]!;
    } else {
      out.set(this.#bytes.subarray(start, start + length));
    }
    return length;
  }

  /** Free a slot and every copy of it. An empty slot has nothing to free. */
  deallocate(slot: ByteSlot): void {
    const block = this.#liveBlock(slot);
    if (block === NIL) return;
    const blocks = this.#blocks;
    const size = blocks.sizes[block]!;
    if (this.#poisonFreed) {
      const start = blocks.offsets[block]! * GRANULE;
      this.#bytes.fill(POISON, start, start + size * GRANULE);
    }
    blocks.stamps[block] = 0;
    this.#liveCount -= 1;
    this.#liveSize -= size;
    this.#release(block);
  }

  /** Free everything at once, in constant time. Every slot handed out before becomes foreign. */
  clear(): void {
    this.#blocks.clear();
    this.#freeTree.clear();
    this.#ownerId = ++lastOwnerId;
    this.#liveCount = 0;
    this.#liveSize = 0;
    this.#freeSize = 0;
  }

  /**
   * Overwrite with zeros whatever was stored, live or freed.
   *
   * Live slots stay live and read as zeros. This reaches past the bump offset to
   * where it has been, because bytes freed at the end are still there.
   */
  zeroizeUsed(): void {
    this.#bytes.fill(0, 0, this.#highestBump * GRANULE);
    this.#highestBump = this.#blocks.bump;
  }

  /** The free blocks by offset, for diagnosis and tests: it walks all blocks. */
  freeBlocks(): { readonly offset: number; readonly size: number }[] {
    const blocks = this.#blocks;
    const free = [];
    for (let block = blocks.last; block !== NIL; block = blocks.previous[block]!) {
      if (blocks.stamps[block] !== 0) continue;
      free.push({ offset: blocks.offsets[block]! * GRANULE, size: blocks.sizes[block]! * GRANULE });
    }
    return free.reverse();
  }

  /** The end of the slab's use: clears it, after the leak check where that was asked for. */
  [Symbol.dispose](): void {
    assert(!this.#checkLeaks || this.#liveCount === 0, () => `slab disposed of with ${this.#liveCount} live slots`);
    this.clear();
  }

  /** Copy `bytes` into a block; `NIL` for the empty byte string, and where there is no room. */
  #store(bytes: Uint8Array): number {
    const length = bytes.length;
    if (length === 0 || length > MAX_BLOCK_SIZE) return NIL;
    const block = this.#take(classGranules(length));
    if (block === NIL) return NIL;
    const blocks = this.#blocks;
    blocks.lengths[block] = length;
    blocks.stamps[block] = ++this.#lastStamp;
    this.#liveCount += 1;
    this.#liveSize += blocks.sizes[block]!;
    this.#bytes.set(bytes, blocks.offsets[block]! * GRANULE);
    return block;
  }

  /** A block of exactly `size` granules, linked but not yet live; `NIL` where there is no room. */
  #take(size: number): number {
    const blocks = this.#blocks;
    blocks.reserve();
    this.#freeTree.reserve();

    const block = this.#freeTree.takeBestFit(size);
    if (block === NIL) return this.#bump(size);

    // Every block is a whole number of granules, so a remainder is zero or large enough to keep.
    const remainder = blocks.sizes[block]! - size;
    if (remainder > 0) {
      blocks.sizes[block] = size;
      this.#freeTree.insert(blocks.insertAfter(block, remainder));
    }
    this.#freeSize -= size;
    return block;
  }

  #bump(size: number): number {
    const blocks = this.#blocks;
    const bump = blocks.bump + size;
    if (bump * GRANULE > this.#bytes.length) return NIL;
    if (bump > this.#highestBump) this.#highestBump = bump;
    return blocks.insertAfter(blocks.last, size);
  }

  /** Give a block's space back: merged with its free neighbours, and beyond the bump where it reaches it. */
  #release(freed: number): void {
    const blocks = this.#blocks;
    let block = freed;
    const next = blocks.next[block]!;
    if (next !== NIL && blocks.stamps[next] === 0) {
      this.#unlist(next);
      blocks.sizes[block]! += blocks.sizes[next]!;
      blocks.remove(next);
    }
    const previous = blocks.previous[block]!;
    if (previous !== NIL && blocks.stamps[previous] === 0) {
      this.#unlist(previous);
      blocks.sizes[previous]! += blocks.sizes[block]!;
      blocks.remove(block);
      block = previous;
    }
    if (block === blocks.last) {
      blocks.remove(block);
    } else {
      this.#freeSize += blocks.sizes[block]!;
      this.#freeTree.insert(block);
    }
  }

  #unlist(block: number): void {
    this.#freeTree.remove(block);
    this.#freeSize -= this.#blocks.sizes[block]!;
  }

  /** The block of a slot that is ours and live, `NIL` for an empty one. */
  #liveBlock(slot: ByteSlot): number {
    assertSlot(slot);
    if (slot.ownerId === 0) return NIL;
    assert(slot.ownerId === this.#ownerId, "slot is of another slab, or of this one before it was cleared");
    const block = slotBlock(slot);
    assert(this.#blocks.stamps[block] === slotStamp(slot), "slot has been freed: its bytes may be another's by now");
    return block;
  }

  #refusal(size: number): SlabFull {
    const requested = size > MAX_BLOCK_SIZE ? MAX_SLAB_CAPACITY : classGranules(size) * GRANULE;
    const virgin = Math.floor(this.capacity / GRANULE) - this.#blocks.bump;
    const available = largestClassWithin(Math.max(virgin, this.#freeTree.largestSize())) * GRANULE;
    return { kind: "SlabFull", requested, available };
  }
}

function allocateBuffer(capacity: number): Uint8Array {
  try {
    return new Uint8Array(capacity);
  } catch {
    throw new InvariantViolation(`there is no memory for a slab of ${capacity} bytes`);
  }
}
