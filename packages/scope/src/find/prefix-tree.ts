import { sharedSize, sizeOf } from "./prefix-list.ts";
import type { PrefixOrder } from "./prefix-order.ts";
import { SlotTable } from "./slot-table.ts";

/**
 * A radix tree of prefixes in two arrays.
 *
 * `records` holds each prefix as `position | size | around | bytes`, the bytes four to a word with the
 * first one lowest. `around` is the record of the longest prefix that this one is nested in, or -1.
 *
 * `slots` holds pairs of words. A branch is a base and a depth: it looks at the key's byte at that
 * depth and goes on at slot `base + byte`, which holds
 *
 *     tag    depth of the next branch << 9 | byte + 1     (0: a free slot)
 *     next   its base, or the complement of a record
 *
 * A tree of nested prefixes has in each branch one more slot, `base + OTHERWISE`, which leads to the
 * first prefix below. `rootNext` and `rootDepth` are what a slot that leads to the root would hold.
 */
export interface PrefixTree {
  readonly slots: Int32Array;
  readonly records: Int32Array;
  readonly rootNext: number;
  readonly rootDepth: number;
}

/** Words of a record before its bytes. */
export const RECORD_HEAD = 3;

/** The label of the slot to take if no byte matches. Bytes are the labels 0 to 255. */
export const OTHERWISE = 256;

/** The record of an empty tree. No key can match it, because it is longer than any key. */
const NOTHING = [-1, 0x7fff_ffff, -1];

/** Prefixes of rank `low` to `high - 1`, which agree in their first `agreed` bytes, and the slot that will lead to them. */
interface Group {
  readonly low: number;
  readonly high: number;
  readonly agreed: number;
  readonly slot: number;
}

/**
 * Build the tree, in time linear in the size of all prefixes together.
 *
 * A search returns the position that a prefix had in the list.
 */
export function buildPrefixTree(order: PrefixOrder, { isNested }: { readonly isNested: boolean }): PrefixTree {
  const { list, positions } = order;
  const { records, recordOf } = layOutRecords(order);
  if (positions.length < 2) return { slots: new Int32Array(0), records, rootNext: ~0, rootDepth: 0 };

  const slots = new SlotTable();
  const labels = new Uint16Array(OTHERWISE + 1);
  const starts = new Int32Array(OTHERWISE + 1);
  const groups: Group[] = [{ low: 0, high: positions.length, agreed: 0, slot: -1 }];
  let root = { base: 0, depth: 0 };

  // Breadth first, so that the branches near the root, which every search reads, are adjacent.
  for (const { low, high, agreed, slot } of groups) {
    const depth = sharedSize(list, { a: positions[low]!, b: positions[high - 1]!, agreed });
    // A prefix that ends here has no byte to branch on. It is first, and reached by "otherwise".
    const first = sizeOf(list, positions[low]!) === depth ? low + 1 : low;
    let count = 0;
    for (let rank = first; rank < high; rank++) {
      const byte = list.bytes[list.starts[positions[rank]!]! + depth]!;
      if (count > 0 && labels[count - 1] === byte) continue;
      labels[count] = byte;
      starts[count++] = rank;
    }
    labels[count] = OTHERWISE;

    const base = slots.place(labels, isNested ? count + 1 : count);
    if (slot < 0) root = { base, depth };
    else slots.leadToBranch(slot, { base, depth });
    if (isNested) slots.leadToRecord(base + OTHERWISE, recordOf[low]!);

    for (let index = 0; index < count; index++) {
      const child = {
        low: starts[index]!,
        high: index + 1 < count ? starts[index + 1]! : high,
        agreed: depth + 1,
        slot: base + labels[index]!,
      };
      if (child.high - child.low === 1) slots.leadToRecord(child.slot, recordOf[child.low]!);
      else groups.push(child);
    }
  }
  return { slots: slots.toWords(), records, rootNext: root.base, rootDepth: root.depth };
}

/** The records in the order of the prefixes, and where each begins. */
function layOutRecords({ list, positions, around }: PrefixOrder): {
  readonly records: Int32Array;
  readonly recordOf: Int32Array;
} {
  const recordOf = new Int32Array(positions.length);
  let wordCount = 0;
  for (let rank = 0; rank < positions.length; rank++) {
    recordOf[rank] = wordCount;
    wordCount += RECORD_HEAD + ((sizeOf(list, positions[rank]!) + 3) >> 2);
  }
  if (wordCount === 0) return { records: Int32Array.from(NOTHING), recordOf };

  const records = new Int32Array(wordCount);
  for (let rank = 0; rank < positions.length; rank++) {
    const position = positions[rank]!;
    const record = recordOf[rank]!;
    const start = list.starts[position]!;
    const size = sizeOf(list, position);
    records[record] = position;
    records[record + 1] = size;
    records[record + 2] = around[rank]! < 0 ? -1 : recordOf[around[rank]!]!;
    for (let index = 0; index < size; index++) {
      records[record + RECORD_HEAD + (index >> 2)]! |= list.bytes[start + index]! << ((index & 3) << 3);
    }
  }
  return { records, recordOf };
}
