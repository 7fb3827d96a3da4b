import { NIL, type SlabBlocks } from "./slab-blocks.ts";

// Children are kept two to a node in one array, so that a link is a plain index and can be written
// through: `2 * node` is the link to its left child, `2 * node + 1` to its right. Node 0 does not exist,
// which leaves link 1 for the root.
const ROOT = 1;

/**
 * The free blocks of a slab, ordered by size and then by offset.
 *
 * A treap: a search tree by (size, offset) that is at the same time a heap by a
 * number mixed from the offset. Its shape depends on the blocks in it alone, not
 * on the order in which they came, and its depth is logarithmic unless the
 * offsets were chosen against the mixing. Nothing here recurses or allocates.
 */
export class FreeTree {
  readonly #blocks: SlabBlocks;
  #links: Int32Array;
  #priorities: Int32Array;

  constructor(blocks: SlabBlocks) {
    this.#blocks = blocks;
    this.#links = new Int32Array(2 * blocks.recordCount);
    this.#priorities = new Int32Array(blocks.recordCount);
  }

  /** Make room for every record that the blocks have. */
  reserve(): void {
    const recordCount = this.#blocks.recordCount;
    if (this.#priorities.length === recordCount) return;
    const links = new Int32Array(2 * recordCount);
    const priorities = new Int32Array(recordCount);
    links.set(this.#links);
    priorities.set(this.#priorities);
    this.#links = links;
    this.#priorities = priorities;
  }

  insert(node: number): void {
    const links = this.#links;
    const priorities = this.#priorities;
    const priority = mix(this.#blocks.offsets[node]!);
    priorities[node] = priority;

    let link = ROOT;
    let below = links[link]!;
    while (below !== NIL && priorities[below]! >= priority) {
      link = 2 * below + (this.#isBefore(node, below) ? 0 : 1);
      below = links[link]!;
    }
    links[link] = node;
    this.#splitUnder(node, below);
  }

  remove(node: number): void {
    const links = this.#links;
    let link = ROOT;
    for (let current = links[link]!; current !== node; current = links[link]!) {
      link = 2 * current + (this.#isBefore(node, current) ? 0 : 1);
    }
    this.#unlink(link);
  }

  /** Remove and return the smallest block of at least `size`, the lowest of several; `NIL` where there is none. */
  takeBestFit(size: number): number {
    const links = this.#links;
    const sizes = this.#blocks.sizes;
    let bestLink = NIL;
    let link = ROOT;
    for (let current = links[link]!; current !== NIL; current = links[link]!) {
      if (sizes[current]! >= size) {
        bestLink = link;
        link = 2 * current;
      } else {
        link = 2 * current + 1;
      }
    }
    if (bestLink === NIL) return NIL;
    const best = links[bestLink]!;
    this.#unlink(bestLink);
    return best;
  }

  /** The size of the largest block; zero where there is none. */
  largestSize(): number {
    const links = this.#links;
    let largest = NIL;
    for (let current = links[ROOT]!; current !== NIL; current = links[2 * current + 1]!) largest = current;
    return largest === NIL ? 0 : this.#blocks.sizes[largest]!;
  }

  clear(): void {
    this.#links[ROOT] = NIL;
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.#blocks.sizes[a]! - this.#blocks.sizes[b]!;
    return difference === 0 ? this.#blocks.offsets[a]! < this.#blocks.offsets[b]! : difference < 0;
  }

  /** Share the subtree at `below` out to the two sides of `node`, which takes its place. */
  #splitUnder(node: number, below: number): void {
    const links = this.#links;
    let left = 2 * node;
    let right = 2 * node + 1;
    let current = below;
    while (current !== NIL) {
      if (this.#isBefore(current, node)) {
        links[left] = current;
        left = 2 * current + 1;
        current = links[left]!;
      } else {
        links[right] = current;
        right = 2 * current;
        current = links[right]!;
      }
    }
    links[left] = NIL;
    links[right] = NIL;
  }

  /** Put the children of the node at `link`, merged, in its place. */
  #unlink(link: number): void {
    const links = this.#links;
    const priorities = this.#priorities;
    const node = links[link]!;
    let hole = link;
    let left = links[2 * node]!;
    let right = links[2 * node + 1]!;
    while (left !== NIL && right !== NIL) {
      if (priorities[left]! >= priorities[right]!) {
        links[hole] = left;
        hole = 2 * left + 1;
        left = links[hole]!;
      } else {
        links[hole] = right;
        hole = 2 * right;
        right = links[hole]!;
      }
    }
    links[hole] = left === NIL ? right : left;
  }
}

/** Scatter neighbouring offsets over all 32 bits. One to one, so that two blocks never tie. */
function mix(offset: number): number {
  let mixed = Math.imul(offset ^ (offset >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return mixed ^ (mixed >>> 15);
}
