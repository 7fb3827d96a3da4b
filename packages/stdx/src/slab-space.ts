import type { ByteSlot, OpenSlot } from "./byte-slot.ts";
import { Block, FreeBlocks, log2, NOT_FREE } from "./free-blocks.ts";

/** A slab has no room for what was asked of it. Nothing has changed; free something, or ask for less. */
export interface SlabFull {
  readonly kind: "SlabFull";
  /** The size class that was looked for, or 2^32 - 1 if no class is large enough. */
  readonly requested: number;
  /** The largest size class that can be allocated now; zero if none can. */
  readonly available: number;
}

const MIN_BLOCK_SIZE = 16;
const MAX_BLOCK_SIZE = 2 ** 31;
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
 * The fields are plain, and the class stays inside the package: the compiler inlines by the size of the bytecode, and a
 * `#field` takes more of it.
 */
export class SlabSpace {
  ownerId: number = ++lastOwnerId;
  liveCount = 0;
  liveBytes = 0;
  bumpOffset = 0;
  /** The furthest that the bump has been since it was last asked for. */
  private highestBump = 0;
  private readonly capacity: number;
  private readonly free = new FreeBlocks();
  private readonly blocks: Block[] = [];
  /** The blocks are a ring through this one, which has no size and is never free: no step along it needs a check. */
  private readonly edge = new Block(-1);
  /** The head of the chain of blocks that are not in use, which ends with `edge`. */
  private unused = this.edge;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Whether the slot names a live block of this space, and the same allocation of it that it was given. */
  isLive(slot: ByteSlot): boolean {
    return slot.ownerId === this.ownerId && this.blocks[slot.block]!.generation === slot.generation;
  }

  /** Take a block of the size class of `length` bytes, which is not zero, and write it into `slot`, if there is room. */
  take(length: number, slot: OpenSlot): boolean {
    if (length > MAX_BLOCK_SIZE) return false;
    const size = classOf(length);
    // If every byte up to the bump is live, there is no free block.
    const free = this.liveBytes === this.bumpOffset ? undefined : this.free.takeBestFit(size);
    const block = free ?? this.takeBeyondBump(size);
    if (block === undefined) return false;
    // Every size is a multiple of the smallest block, so a remainder is zero or large enough to keep.
    if (block.size > size) this.splitOff(block, size);
    this.liveCount += 1;
    this.liveBytes += size;

    slot.offset = block.offset;
    slot.length = length;
    slot.allocSize = size;
    slot.ownerId = this.ownerId;
    slot.block = block.index;
    slot.generation = block.generation;
    return true;
  }

  /** The error of taking a block for `length` bytes now; `undefined` if it would succeed. */
  refusalFor(length: number): SlabFull | undefined {
    const virgin = this.capacity - this.bumpOffset;
    const virginClass = virgin < MIN_BLOCK_SIZE ? 0 : 2 ** log2(virgin);
    const available = Math.max(virginClass, this.free.largestClass());
    const requested = length > MAX_BLOCK_SIZE ? BEYOND_CLASSES : classOf(length);
    return requested <= available ? undefined : { kind: "SlabFull", requested, available };
  }

  /** Free the block of a live slot. It merges with its free neighbors, and with the space beyond the bump. */
  release(slot: ByteSlot): void {
    let block = this.blocks[slot.block]!;
    const { next, previous } = block;
    block.generation += 1;
    this.liveCount -= 1;
    this.liveBytes -= block.size;

    if (next.isFree) {
      this.free.remove(next);
      block.size += next.size;
      this.unlink(next);
    }
    if (previous.isFree) {
      this.free.remove(previous);
      previous.size += block.size;
      this.unlink(block);
      block = previous;
    }
    if (block.next === this.edge) {
      this.bumpOffset = block.offset;
      this.unlink(block);
    } else {
      this.free.insert(block);
    }
  }

  /** Free everything, and make every slot foreign, in constant time. */
  clear(): void {
    const { edge } = this;
    edge.previous.next = this.unused;
    this.unused = edge.next;
    edge.previous = edge;
    edge.next = edge;
    this.free.clear();
    this.ownerId = ++lastOwnerId;
    this.bumpOffset = 0;
    this.liveCount = 0;
    this.liveBytes = 0;
  }

  /** The furthest offset that the bump has been at since this was last asked. */
  takeHighestBump(): number {
    const highest = this.highestBump;
    this.highestBump = this.bumpOffset;
    return highest;
  }

  /** Every free block, by offset. */
  *freeBlocks(): Generator<Block> {
    for (let block = this.edge.next; block !== this.edge; block = block.next) {
      if (block.isFree) yield block;
    }
  }

  private takeBeyondBump(size: number): Block | undefined {
    const offset = this.bumpOffset;
    if (offset + size > this.capacity) return undefined;
    this.bumpOffset = offset + size;
    if (this.bumpOffset > this.highestBump) this.highestBump = this.bumpOffset;
    return this.insertAfter(this.edge.previous, offset, size);
  }

  /** Shorten a block to `size`. The rest of it becomes a free block. */
  private splitOff(block: Block, size: number): void {
    const rest = this.insertAfter(block, block.offset + size, block.size - size);
    block.size = size;
    this.free.insert(rest);
  }

  private insertAfter(previous: Block, offset: number, size: number): Block {
    const block = this.takeUnused();
    const { next } = previous;
    block.offset = offset;
    block.size = size;
    block.heapIndex = NOT_FREE;
    block.previous = previous;
    block.next = next;
    previous.next = block;
    next.previous = block;
    return block;
  }

  private takeUnused(): Block {
    const block = this.unused;
    if (block !== this.edge) {
      this.unused = block.next;
      return block;
    }
    const fresh = new Block(this.blocks.length);
    this.blocks.push(fresh);
    return fresh;
  }

  private unlink(block: Block): void {
    const { previous, next } = block;
    previous.next = next;
    next.previous = previous;
    block.next = this.unused;
    this.unused = block;
  }
}

/** The least size class that holds `length` bytes, up to 2^31: a power of two. */
function classOf(length: number): number {
  // `>>> 0` makes 2^31 positive.
  return length <= MIN_BLOCK_SIZE ? MIN_BLOCK_SIZE : (1 << (32 - Math.clz32(length - 1))) >>> 0;
}
