/** A piece of a slab, live or free. A slab uses its blocks again and again, so that taking one leaves no garbage. */
export class Block {
  /** The position among the slab's blocks. Slots name a block by it. */
  readonly index: number;
  offset = 0;
  size = 0;
  /** How often the block was freed. A slot of an earlier time is stale. It counts to 2^53 and never wraps. */
  generation = 0;
  /** The block before it in the slab. */
  previous: Block = this;
  /** The block after it in the slab. Of a block that is not in use, the next such block. */
  next: Block = this;
  /** The position in the heap of free blocks, or `NOT_FREE`. */
  heapIndex = NOT_FREE;

  constructor(index: number) {
    this.index = index;
  }

  get isFree(): boolean {
    return this.heapIndex !== NOT_FREE;
  }
}

export const NOT_FREE = -1;

interface Heap {
  /** Only the first `count` are in the heap. The array never shrinks, because growing again would allocate. */
  readonly blocks: Block[];
  count: number;
}

/**
 * The free blocks of a slab, the smallest first and the lowest of several.
 *
 * There is a binary heap for each power of two, with the blocks from that size to the next. Sizes that are asked for are
 * powers of two, so every block of a heap fits or none does, and the first block of the first heap is the best fit.
 */
export class FreeBlocks {
  private readonly heaps: readonly Heap[] = Array.from({ length: 32 }, () => ({ blocks: [], count: 0 }));

  insert(block: Block): void {
    const heap = this.heaps[log2(block.size)]!;
    moveUp(heap, block, heap.count++);
  }

  remove(block: Block): void {
    removeFrom(this.heaps[log2(block.size)]!, block);
  }

  /** Remove and return the smallest block of at least `size`, a power of two, or the lowest of several. */
  takeBestFit(size: number): Block | undefined {
    for (let power = log2(size); power < this.heaps.length; power++) {
      const heap = this.heaps[power]!;
      if (heap.count > 0) return removeFrom(heap, heap.blocks[0]!);
    }
    return undefined;
  }

  /** The largest power of two that a free block can hold; zero if there is no free block. */
  largestClass(): number {
    const power = this.heaps.findLastIndex((heap) => heap.count > 0);
    return power < 0 ? 0 : 2 ** power;
  }

  clear(): void {
    for (const heap of this.heaps) heap.count = 0;
  }
}

/** The power of the largest power of two that is not above `size`, a whole number from 1 to 2^32 - 1. */
export function log2(size: number): number {
  return 31 - Math.clz32(size);
}

function isBefore(a: Block, b: Block): boolean {
  return a.size === b.size ? a.offset < b.offset : a.size < b.size;
}

function removeFrom(heap: Heap, block: Block): Block {
  const last = heap.blocks[--heap.count]!;
  const hole = block.heapIndex;
  block.heapIndex = NOT_FREE;
  if (last !== block) {
    moveDown(heap, last, hole);
    moveUp(heap, last, last.heapIndex);
  }
  return block;
}

/** Put a block at `index`, or above while it is before its parent. */
function moveUp({ blocks }: Heap, block: Block, index: number): void {
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = blocks[parentIndex]!;
    if (!isBefore(block, parent)) break;
    blocks[index] = parent;
    parent.heapIndex = index;
    index = parentIndex;
  }
  blocks[index] = block;
  block.heapIndex = index;
}

/** Put a block at `index`, or below while a child is before it. */
function moveDown({ blocks, count }: Heap, block: Block, index: number): void {
  for (let childIndex = 2 * index + 1; childIndex < count; childIndex = 2 * index + 1) {
    if (childIndex + 1 < count && isBefore(blocks[childIndex + 1]!, blocks[childIndex]!)) childIndex += 1;
    const child = blocks[childIndex]!;
    if (!isBefore(child, block)) break;
    blocks[index] = child;
    child.heapIndex = index;
    index = childIndex;
  }
  blocks[index] = block;
  block.heapIndex = index;
}
