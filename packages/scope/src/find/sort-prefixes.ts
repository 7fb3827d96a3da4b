import type { PrefixList } from "./prefix-list.ts";

/** Ranges up to this long are sorted by insertion. */
const SMALL = 12;

/**
 * The positions of the strings in the order of their bytes, equal strings in the order given.
 *
 * A radix quicksort: strings are split by their byte at one depth into less, equal and greater, and
 * only the equal ones continue at the next depth. So a byte that a whole range shares is read once, whereas a
 * comparison sort would read it in every comparison.
 */
export function sortPrefixes(list: PrefixList): Int32Array {
  const { starts } = list;
  const order = new Int32Array(starts.length - 1);
  for (let index = 0; index < order.length; index++) order[index] = index;

  // Ranges left to sort, as `low, high, depth`. A list instead of recursion, which could exhaust the stack.
  const ranges = [0, order.length, 0];
  while (ranges.length > 0) {
    const depth = ranges.pop()!;
    const high = ranges.pop()!;
    const low = ranges.pop()!;
    if (high - low <= SMALL) {
      insertionSort(list, order, { low, high, depth });
      continue;
    }

    const pivot = medianByte(list, order, { low, high, depth });
    let less = low;
    let greater = high;
    for (let index = low; index < greater;) {
      const byte = byteAt(list, order[index]!, depth);
      if (byte < pivot) swap(order, less++, index++);
      else if (byte > pivot) swap(order, index, --greater);
      else index += 1;
    }
    if (less > low) ranges.push(low, less, depth);
    if (greater < high) ranges.push(greater, high, depth);
    // If the pivot is the end of the string, the rest are equal, and keep their input order.
    if (pivot < 0) order.subarray(less, greater).sort();
    else ranges.push(less, greater, depth + 1);
  }
  return order;
}

interface Range {
  readonly low: number;
  readonly high: number;
  /** All strings of the range agree up to here. */
  readonly depth: number;
}

/** A string's byte, or -1 past its end: a shorter string sorts first. */
function byteAt({ bytes, starts }: PrefixList, position: number, depth: number): number {
  const at = starts[position]! + depth;
  return at < starts[position + 1]! ? bytes[at]! : -1;
}

function medianByte(list: PrefixList, order: Int32Array, { low, high, depth }: Range): number {
  const a = byteAt(list, order[low]!, depth);
  const b = byteAt(list, order[(low + high) >> 1]!, depth);
  const c = byteAt(list, order[high - 1]!, depth);
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function insertionSort(list: PrefixList, order: Int32Array, { low, high, depth }: Range): void {
  for (let index = low + 1; index < high; index++) {
    const position = order[index]!;
    let at = index;
    while (at > low && isBefore(list, position, order[at - 1]!, depth)) {
      order[at] = order[at - 1]!;
      at -= 1;
    }
    order[at] = position;
  }
}

function isBefore({ bytes, starts }: PrefixList, a: number, b: number, depth: number): boolean {
  const aSize = starts[a + 1]! - starts[a]!;
  const bSize = starts[b + 1]! - starts[b]!;
  const limit = Math.min(aSize, bSize);
  const aStart = starts[a]!;
  const bStart = starts[b]!;
  for (let index = depth; index < limit; index++) {
    const difference = bytes[aStart + index]! - bytes[bStart + index]!;
    if (difference !== 0) return difference < 0;
  }
  return aSize === bSize ? a < b : aSize < bSize;
}

function swap(order: Int32Array, a: number, b: number): void {
  const held = order[a]!;
  order[a] = order[b]!;
  order[b] = held;
}
