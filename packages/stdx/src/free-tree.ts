// Fields of a block's record: see slab-space.ts, which also explains why they are not imported.
const OFFSET = 0;
const SIZE = 1;
const LEFT = 5;
const RIGHT = 6;
const PRIORITY = 7;

const NIL = 0;
// A link is the index of the field that holds it, so that it can be written through. The first record is of no block
// and has no children: one of its links is the root.
const ROOT = NIL + LEFT;

/**
 * The free blocks of a slab, ordered by size and then by offset.
 *
 * A treap: a search tree by (size, offset) that is at the same time a heap by a number mixed from the offset. Its shape
 * depends on the blocks in it alone, not on the order in which they came, and its depth is logarithmic unless the
 * offsets were chosen against the mixing. Nothing here recurses or allocates.
 *
 * The newest block waits outside the tree until another comes. A slab in a steady state mostly frees a block and then
 * takes the same one again, and that need not touch the tree.
 */
export class FreeTree {
  /** The slab's blocks. Code that grows the table stores the new one here. */
  table: Int32Array;
  /** The block that is not in the tree yet. */
  private newest = NIL;

  constructor(table: Int32Array) {
    this.table = table;
  }

  insert(block: number): void {
    if (this.newest !== NIL) link(this.table, this.newest);
    this.newest = block;
  }

  remove(block: number): void {
    if (block === this.newest) this.newest = NIL;
    else unlink(this.table, linkTo(this.table, block));
  }

  /** Remove and return the smallest block of at least `size`, the lowest of several; 0 if there is none. */
  takeBestFit(size: number): number {
    const table = this.table;
    const newest = this.newest;
    // Where there is no newest block the size reads zero, which never fits.
    const isFitting = table[newest + SIZE]! >= size;
    // Not even a call for an empty tree: that is the steady state.
    const link = table[ROOT] === NIL ? NIL : bestFitLink(table, size);
    if (isFitting && (link === NIL || isBefore(table, newest, table[link]!))) {
      this.newest = NIL;
      return newest;
    }
    return link === NIL ? NIL : unlink(table, link);
  }

  /** The size of the largest block; zero if there is none. */
  largestSize(): number {
    const table = this.table;
    let largest = table[ROOT]!;
    while (table[largest + RIGHT] !== NIL) largest = table[largest + RIGHT]!;
    return Math.max(table[largest + SIZE]!, table[this.newest + SIZE]!);
  }

  clear(): void {
    this.newest = NIL;
    this.table[ROOT] = NIL;
  }
}

/** The link to the smallest block of at least `size`, the lowest of several; 0 if there is none. */
function bestFitLink(table: Int32Array, size: number): number {
  let best = NIL;
  let link = ROOT;
  for (let current = table[link]!; current !== NIL; current = table[link]!) {
    if (table[current + SIZE]! >= size) {
      best = link;
      link = current + LEFT;
    } else {
      link = current + RIGHT;
    }
  }
  return best;
}

/** The link to a block that is in the tree. */
function linkTo(table: Int32Array, block: number): number {
  let link = ROOT;
  for (let current = table[link]!; current !== block; current = table[link]!) {
    link = current + (isBefore(table, block, current) ? LEFT : RIGHT);
  }
  return link;
}

/** Put a block into the tree. */
function link(table: Int32Array, block: number): void {
  const priority = mix(table[block + OFFSET]!);
  table[block + PRIORITY] = priority;
  let at = ROOT;
  let below = table[at]!;
  while (below !== NIL && table[below + PRIORITY]! >= priority) {
    at = below + (isBefore(table, block, below) ? LEFT : RIGHT);
    below = table[at]!;
  }
  table[at] = block;
  splitUnder(table, block, below);
}

function isBefore(table: Int32Array, a: number, b: number): boolean {
  const difference = table[a + SIZE]! - table[b + SIZE]!;
  return difference === 0 ? table[a + OFFSET]! < table[b + OFFSET]! : difference < 0;
}

/** Divide the subtree at `below` between the two sides of `block`, which replaces it. */
function splitUnder(table: Int32Array, block: number, below: number): void {
  let left = block + LEFT;
  let right = block + RIGHT;
  let current = below;
  while (current !== NIL) {
    if (isBefore(table, current, block)) {
      table[left] = current;
      left = current + RIGHT;
      current = table[left]!;
    } else {
      table[right] = current;
      right = current + LEFT;
      current = table[right]!;
    }
  }
  table[left] = NIL;
  table[right] = NIL;
}

/** Replace the block at `link` by its two subtrees, merged. Returns the block. */
function unlink(table: Int32Array, link: number): number {
  const block = table[link]!;
  let hole = link;
  let left = table[block + LEFT]!;
  let right = table[block + RIGHT]!;
  while (left !== NIL && right !== NIL) {
    if (table[left + PRIORITY]! >= table[right + PRIORITY]!) {
      table[hole] = left;
      hole = left + RIGHT;
      left = table[hole]!;
    } else {
      table[hole] = right;
      hole = right + LEFT;
      right = table[hole]!;
    }
  }
  table[hole] = left === NIL ? right : left;
  return block;
}

/** Scatter neighboring offsets over all 32 bits. One to one, so that no two blocks tie. */
function mix(offset: number): number {
  let mixed = Math.imul(offset ^ (offset >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return mixed ^ (mixed >>> 15);
}
