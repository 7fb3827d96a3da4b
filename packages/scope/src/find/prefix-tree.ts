import { assert } from "@gossip/stdx";
import { MAX_INDEX_SIZE } from "../limits.ts";

/** What a search returns for a key that no prefix covers. */
export const NO_PREFIX = -1;

/** What `findText` returns for a text that it cannot read. */
export const NOT_ASCII = -2;

/** Words of a node: its test, the child for each value of a half byte, and the child for a key that ends before it. */
const NODE_SIZE = 18;
const ENDED = NODE_SIZE - 1;

/** In place of the byte of a key that ends before it. */
const NO_BYTE = -1;

/**
 * A radix tree that finds the longest prefix of a key, in a list of prefixes.
 *
 * A node tests one half byte of the key: number `test`, two to a byte, the upper first. Its children are words: the
 * offset of a node, or the complement of the position of a prefix. A child that no prefix has leads to any prefix
 * below the node.
 *
 * So a search ends at a prefix that shares with the key as many bytes as any other does. Every prefix of the key is
 * that one or one around it, and one comparison decides.
 */
export class PrefixTree {
  /** For each prefix, the position of the longest one that it is nested in, or `NO_PREFIX`. */
  readonly around: Int32Array;
  /** The positions of the prefixes that are nested in another. */
  readonly nested: readonly number[];
  /** By its first position, all positions of each prefix that is there more than once. Only the first is in the tree. */
  readonly repeated: ReadonlyMap<number, readonly number[]>;
  // The prefixes end to end, number `n` at `bytes[starts[n], starts[n + 1])`: an array for each would be a cache miss more.
  readonly #bytes: Uint8Array;
  readonly #starts: Int32Array;
  // Begins with one word that leads to the root. It is 0 in an empty tree.
  readonly #nodes: Int32Array;

  constructor(prefixes: readonly Uint8Array[]) {
    this.#starts = startsOf(prefixes);
    this.#bytes = new Uint8Array(this.#starts[prefixes.length]!);
    for (let position = 0; position < prefixes.length; position++)
      this.#bytes.set(prefixes[position]!, this.#starts[position]);
    this.around = new Int32Array(prefixes.length).fill(NO_PREFIX);
    const nodes = new Int32Array(1 + NODE_SIZE * prefixes.length);
    this.#nodes = nodes;
    const nested: number[] = [];
    const repeated = new Map<number, number[]>();
    let end = 1;

    // Short ones first: then all prefixes around one are in the tree before it.
    const order = prefixes.map((_, position) => position).sort((a, b) => this.#sizeOf(a) - this.#sizeOf(b));
    for (const position of order) {
      const prefix = prefixes[position]!;
      const near = this.#nearest(prefix, prefix.length);
      if (near < 0) {
        nodes[0] = ~position;
        continue;
      }
      const shared = this.#sharedSize(near, prefix, prefix.length);
      if (shared === prefix.length) {
        const positions = repeated.get(near) ?? [near];
        positions.push(position);
        repeated.set(near, positions);
        continue;
      }
      const around = this.#covering(near, shared);
      if (around >= 0) nested.push(position);
      this.around[position] = around;

      // Add it where it first differs from all others. A node may test that already, else there is a new one.
      const byte = prefix[shared]!;
      const nearByte = shared < this.#sizeOf(near) ? this.#bytes[this.#starts[near]! + shared]! : NO_BYTE;
      const test = 2 * shared + (byte >>> 4 === nearByte >>> 4 ? 1 : 0);
      let slot = 0;
      while (nodes[slot]! > 0 && nodes[nodes[slot]!]! < test)
        slot = childSlot(nodes, nodes[slot]!, prefix[nodes[nodes[slot]!]! >>> 1]!);
      let node = nodes[slot]!;
      if (node < 0 || nodes[node] !== test) {
        nodes.fill(~near, end, end + NODE_SIZE);
        nodes[end] = test;
        nodes[childSlot(nodes, end, nearByte)] = node;
        nodes[slot] = node = end;
        end += NODE_SIZE;
      }
      nodes[childSlot(nodes, node, byte)] = ~position;
    }
    this.nested = nested;
    this.repeated = repeated;
    this.#nodes = nodes.slice(0, end);
  }

  /**
   * The position of the longest prefix that covers the first `size` bytes of `key`.
   *
   * Hot: allocates nothing.
   */
  find(key: Uint8Array, size: number): number {
    const near = this.#nearest(key, size);
    return near < 0 ? NO_PREFIX : this.#covering(near, this.#sharedSize(near, key, size));
  }

  /**
   * Like `find`, for text. Returns `NOT_ASCII` if the result depends on a character that is not ASCII, and so not one
   * byte of UTF-8: encode the text then.
   *
   * Hot: allocates nothing. Encoding every text first would take half as long again among few prefixes.
   */
  findText(key: string): number {
    const nodes = this.#nodes;
    let next = nodes[0]!;
    while (next > 0) {
      const at = nodes[next]! >>> 1;
      const unit = at < key.length ? key.charCodeAt(at) : NO_BYTE;
      if (unit >= 0x80) return NOT_ASCII;
      next = nodes[childSlot(nodes, next, unit)]!;
    }
    if (next === 0) return NO_PREFIX;

    const start = this.#starts[~next]!;
    const limit = Math.min(this.#sizeOf(~next), key.length);
    let shared = 0;
    for (; shared < limit; shared++) {
      const unit = key.charCodeAt(shared);
      if (unit >= 0x80) return NOT_ASCII;
      if (unit !== this.#bytes[start + shared]) break;
    }
    return this.#covering(~next, shared);
  }

  /** A prefix that shares with the key as many bytes as any other. */
  #nearest(key: Uint8Array, size: number): number {
    const nodes = this.#nodes;
    let next = nodes[0]!;
    while (next > 0) {
      const at = nodes[next]! >>> 1;
      next = nodes[childSlot(nodes, next, at < size ? key[at]! : NO_BYTE)]!;
    }
    return next === 0 ? NO_PREFIX : ~next;
  }

  /** How many of the first `size` bytes of the key are those of a prefix. */
  #sharedSize(position: number, key: Uint8Array, size: number): number {
    const bytes = this.#bytes;
    const start = this.#starts[position]!;
    const limit = Math.min(this.#sizeOf(position), size);
    let shared = 0;
    while (shared < limit && bytes[start + shared] === key[shared]) shared += 1;
    return shared;
  }

  /** The longest of a prefix and those around it that has at most `size` bytes. */
  #covering(near: number, size: number): number {
    let position = near;
    while (position >= 0 && this.#sizeOf(position) > size) position = this.around[position]!;
    return position;
  }

  #sizeOf(position: number): number {
    return this.#starts[position + 1]! - this.#starts[position]!;
  }
}

function startsOf(prefixes: readonly Uint8Array[]): Int32Array {
  const starts = new Int32Array(prefixes.length + 1);
  let size = 0;
  for (let position = 0; position < prefixes.length; position++) {
    size += prefixes[position]!.length;
    assert(size <= MAX_INDEX_SIZE, () => `the prefixes of a table must take at most ${MAX_INDEX_SIZE} bytes`);
    starts[position + 1] = size;
  }
  return starts;
}

/** Where a node has the child for a key that has this byte where the node tests it. */
function childSlot(nodes: Int32Array, node: number, byte: number): number {
  if (byte === NO_BYTE) return node + ENDED;
  return node + 1 + ((nodes[node]! & 1) === 0 ? byte >>> 4 : byte & 15);
}
