import type { OpenSlot } from "./byte-slot.ts";
import { FreeTree } from "./free-tree.ts";

/** A slab has no room for what was asked of it. Nothing has changed; free something, or ask for less. */
export interface SlabFull {
  readonly kind: "SlabFull";
  /** The size class that was looked for, or 2^32 - 1 if no class is large enough. */
  readonly requested: number;
  /** The largest size class that can be allocated now; zero if none can. */
  readonly available: number;
}

// Blocks are kept in one table, eight numbers to a record. A block is the index of its record's first field, so that a
// field is read as `table[block + SIZE]`. One table, and not an array a field: a search touches one cache line a block,
// and compiled code loads one array instead of eight.
//
// The tree of free blocks uses the same records. Both files declare the numbers of the fields they use, because
// compiled code has a file's own constants as numbers, and loads imported ones at each use.

/** Where the block starts, in granules. */
const OFFSET = 0;
/** In granules. */
const SIZE = 1;
/** Bytes stored, as an unsigned number. Zero in a free block and in an unused record, and nowhere else. */
const LENGTH = 2;
/** The block before it in the slab. */
const PREVIOUS = 3;
/** The block after it in the slab. In an unused record, the next unused one. */
const NEXT = 4;
/** Live blocks only: which allocation it is, a 64-bit number in two halves. */
const STAMP_LOW = 5;
const STAMP_HIGH = 6;
// Free blocks only: fields 5 to 7 are the tree's.
const RECORD_SIZE = 8;
const FIRST_RECORD_COUNT = 64;

// No block. The chain of blocks is a ring through this record, which has no size and counts as live: no step along the
// chain then needs to ask whether it has come to an end.
const NIL = 0;

/**
 * Space is counted in granules of 2^4 bytes, the smallest block. Every size class is a multiple of it, so every offset
 * and size is a whole number of granules, below 2^28 however large the slab is: a small integer.
 *
 * Sixteen is written out because `2 ** 4` is kept as a float, and whatever is multiplied by it becomes one.
 */
const GRANULE = 16;
const GRANULE_BITS = 4;

const MAX_BLOCK_SIZE = 2 ** 31;
const MAX_SMALL_INTEGER = 0x7fff_ffff;
/** What a refusal names if no size class is large enough. */
const BEYOND_CLASSES = 2 ** 32 - 1;

/** Zero is the owner of empty slots, so ids start at one. */
let lastOwnerId = 0;

/**
 * Which parts of a slab are taken, and by which slot.
 *
 * Blocks, each one live or free, cover the slab from its start to its bump; what lies beyond is in no block. No two
 * free blocks touch, and none touches the bump.
 *
 * A block is a number, never an object: taking and releasing leave nothing for the collector. The table grows by
 * doubling and never shrinks, so a slab that has once held its most blocks allocates no more.
 *
 * The fields are plain, not `#fields`, and the class stays inside the package: how much the compiler inlines is counted
 * in bytecodes, and a `#field` takes more of them. `take` and `release` do in place what they could call, for the same
 * reason.
 */
export class SlabSpace {
  ownerId: number = ++lastOwnerId;
  liveCount = 0;
  /** The furthest that the bump has been since it was last set back, in granules. */
  private highestBump = 0;
  /** In granules, as the next two. */
  private readonly capacity: number;
  private bump = 0;
  private liveSize = 0;
  private table = new Int32Array(FIRST_RECORD_COUNT * RECORD_SIZE);
  private readonly free = new FreeTree(this.table);
  // The last stamp given. 64 bits do not wrap in the life of a machine, so a stamp never comes back.
  private stampLow = 0;
  private stampHigh = 0;
  /** Records from here on have not been used since the last `clear`. */
  private fresh = RECORD_SIZE;
  /** The head of the chain of records given back. */
  private unused = NIL;

  constructor(capacity: number) {
    this.capacity = Math.floor(capacity / GRANULE);
    this.table[NIL + LENGTH] = 1;
  }

  get bumpOffset(): number {
    return this.bump * GRANULE;
  }

  get liveBytes(): number {
    return this.liveSize * GRANULE;
  }

  offsetOf(block: number): number {
    return this.table[block + OFFSET]! * GRANULE;
  }

  sizeOf(block: number): number {
    return this.table[block + SIZE]! * GRANULE;
  }

  lengthOf(block: number): number {
    return this.table[block + LENGTH]! >>> 0;
  }

  /** Whether the slot names a live block of this space, and the same allocation of it that it was given. */
  isLive(slot: OpenSlot): boolean {
    const table = this.table;
    const block = slot.block;
    return (
      slot.ownerId === this.ownerId &&
      table[block + STAMP_LOW] === slot.stampLow &&
      table[block + STAMP_HIGH] === slot.stampHigh &&
      table[block + LENGTH] !== 0
    );
  }

  /**
   * Take a block of the size class of `length` bytes, which is not zero, and write it into `slot`.
   *
   * Returns the block's offset, or -1 if there is no room.
   */
  take(length: number, slot: OpenSlot): number {
    // The first comparison is of small integers, and nearly always the last.
    if (length > MAX_SMALL_INTEGER && length > MAX_BLOCK_SIZE) return -1;
    // Before anything changes, because there may be no memory for it.
    if (this.unused === NIL && this.fresh === this.table.length) this.grow();

    const size = classOf(length);
    // Where every granule up to the bump is live there is no free block, and the tree need not be asked.
    let block = this.liveSize === this.bump ? NIL : this.takeFree(size);
    if (block === NIL) block = this.takeBeyondBump(size);
    if (block === NIL) return -1;

    const table = this.table;
    const stampLow = (this.stampLow + 1) | 0;
    this.stampLow = stampLow;
    if (stampLow === 0) this.stampHigh += 1;
    table[block + LENGTH] = length;
    table[block + STAMP_LOW] = stampLow;
    table[block + STAMP_HIGH] = this.stampHigh;
    this.liveCount += 1;
    this.liveSize += size;

    const offset = table[block + OFFSET]! * GRANULE;
    slot.offset = offset;
    slot.length = length;
    slot.allocSize = size * GRANULE;
    slot.ownerId = this.ownerId;
    slot.block = block;
    slot.stampLow = stampLow;
    slot.stampHigh = this.stampHigh;
    return offset;
  }

  /** What a block for `length` bytes would be refused with now; `undefined` if it would not be refused. */
  refusalFor(length: number): SlabFull | undefined {
    const largest = Math.max(this.capacity - this.bump, this.free.largestSize());
    // A capacity below 2^32 has no run of granules that would hold a class beyond the largest.
    const available = largest === 0 ? 0 : 2 ** (31 - Math.clz32(largest)) * GRANULE;
    const requested = length > MAX_BLOCK_SIZE ? BEYOND_CLASSES : classOf(length) * GRANULE;
    return requested <= available ? undefined : { kind: "SlabFull", requested, available };
  }

  /** Free a live block. It merges with its free neighbors, and where it then reaches the bump takes that back. */
  release(block: number): void {
    const table = this.table;
    table[block + LENGTH] = 0;
    this.liveCount -= 1;
    this.liveSize -= table[block + SIZE]!;

    const next = table[block + NEXT]!;
    const previous = table[block + PREVIOUS]!;
    if (table[next + LENGTH] === 0 || table[previous + LENGTH] === 0) {
      this.merge(block);
    } else if (next !== NIL) {
      this.free.insert(block);
    } else {
      // As `remove` does it for the last block.
      this.bump = table[block + OFFSET]!;
      table[previous + NEXT] = NIL;
      table[NIL + PREVIOUS] = previous;
      table[block + NEXT] = this.unused;
      this.unused = block;
    }
  }

  /** Free everything, and make every slot foreign. Constant in time: records are written anew as they are taken. */
  clear(): void {
    this.ownerId = ++lastOwnerId;
    this.bump = 0;
    this.liveCount = 0;
    this.liveSize = 0;
    this.fresh = RECORD_SIZE;
    this.unused = NIL;
    this.table[NIL + PREVIOUS] = NIL;
    this.table[NIL + NEXT] = NIL;
    this.free.clear();
  }

  /** The furthest offset that the bump has been at since this was last asked. */
  takeHighestBumpOffset(): number {
    const highest = this.highestBump;
    this.highestBump = this.bump;
    return highest * GRANULE;
  }

  /** Every free block, by offset. */
  *freeBlocks(): Generator<number> {
    const table = this.table;
    for (let block = table[NIL + NEXT]!; block !== NIL; block = table[block + NEXT]!) {
      if (table[block + LENGTH] === 0) yield block;
    }
  }

  /** Make one free block of a freed one and its free neighbors. */
  private merge(freed: number): void {
    const table = this.table;
    let block = freed;
    const next = table[block + NEXT]!;
    if (table[next + LENGTH] === 0) {
      this.free.remove(next);
      table[block + SIZE]! += table[next + SIZE]!;
      this.remove(next);
    }
    const previous = table[block + PREVIOUS]!;
    if (table[previous + LENGTH] === 0) {
      this.free.remove(previous);
      table[previous + SIZE]! += table[block + SIZE]!;
      this.remove(block);
      block = previous;
    }
    if (table[block + NEXT] === NIL) {
      this.bump = table[block + OFFSET]!;
      this.remove(block);
    } else {
      this.free.insert(block);
    }
  }

  private takeFree(size: number): number {
    const block = this.free.takeBestFit(size);
    if (block === NIL) return NIL;
    // Every size is a whole number of granules, so a remainder is zero or large enough to keep.
    const remainder = this.table[block + SIZE]! - size;
    if (remainder > 0) {
      this.table[block + SIZE] = size;
      this.free.insert(this.insertAfter(block, remainder));
    }
    return block;
  }

  private takeBeyondBump(size: number): number {
    const offset = this.bump;
    const bump = offset + size;
    if (bump > this.capacity) return NIL;
    this.bump = bump;
    if (bump > this.highestBump) this.highestBump = bump;

    // As `insertAfter` does it for the last block.
    const table = this.table;
    const block = this.takeRecord();
    const previous = table[NIL + PREVIOUS]!;
    table[block + OFFSET] = offset;
    table[block + SIZE] = size;
    table[block + PREVIOUS] = previous;
    table[block + NEXT] = NIL;
    table[previous + NEXT] = block;
    table[NIL + PREVIOUS] = block;
    return block;
  }

  /** Add a free block that starts where `previous` ends. */
  private insertAfter(previous: number, size: number): number {
    const table = this.table;
    const block = this.takeRecord();
    const next = table[previous + NEXT]!;
    table[block + OFFSET] = table[previous + OFFSET]! + table[previous + SIZE]!;
    table[block + SIZE] = size;
    table[block + LENGTH] = 0;
    table[block + PREVIOUS] = previous;
    table[block + NEXT] = next;
    table[previous + NEXT] = block;
    table[next + PREVIOUS] = block;
    return block;
  }

  private takeRecord(): number {
    const block = this.unused;
    if (block !== NIL) {
      this.unused = this.table[block + NEXT]!;
      return block;
    }
    const fresh = this.fresh;
    this.fresh = fresh + RECORD_SIZE;
    return fresh;
  }

  /** Take a free block out of the chain, and its record back. */
  private remove(block: number): void {
    const table = this.table;
    const previous = table[block + PREVIOUS]!;
    const next = table[block + NEXT]!;
    table[previous + NEXT] = next;
    table[next + PREVIOUS] = previous;
    table[block + NEXT] = this.unused;
    this.unused = block;
  }

  private grow(): void {
    const table = new Int32Array(this.table.length * 2);
    table.set(this.table);
    this.table = table;
    this.free.table = table;
  }
}

/** The granules of the least size class that holds `length` bytes: a power of two. */
function classOf(length: number): number {
  // One granule less than are needed, which is zero for the smallest class: it has 32 leading zeros.
  return 1 << (32 - Math.clz32((length - 1) >>> GRANULE_BITS));
}
