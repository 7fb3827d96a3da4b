import type { DuplicatePrefix, OverlappingPrefix, OwnershipError } from "../table/ownership-error.ts";
import { layEndToEnd, sharedSize, sizeOf, type PrefixList } from "./prefix-list.ts";
import { sortPrefixes } from "./sort-prefixes.ts";

/** The distinct prefixes of a list in the order of their bytes. */
export interface PrefixOrder {
  readonly list: PrefixList;
  /** The position of each in the list; the first, if there are several. */
  readonly positions: Int32Array;
  /** For each, the rank in this order of the longest prefix that it is nested in, or -1. */
  readonly around: Int32Array;
  /** All positions of each prefix that is in the list more than once. */
  readonly repeated: readonly (readonly number[])[];
}

/**
 * Sorts prefixes, and finds every repetition and every nesting in one pass over the sorted list.
 *
 * Everything that starts with a prefix follows it directly. So it is enough to know which prefixes the previous
 * one was nested in, and how many bytes the two share.
 */
export function orderPrefixes(prefixes: readonly Uint8Array[]): PrefixOrder {
  const list = layEndToEnd(prefixes);
  const sorted = sortPrefixes(list);
  const positions = new Int32Array(sorted.length);
  const around = new Int32Array(sorted.length);
  const repeated: number[][] = [];
  let count = 0;
  let isRepeating = false;

  for (const position of sorted) {
    const previous = count - 1;
    const shared = previous < 0 ? 0 : sharedSize(list, { a: positions[previous]!, b: position, agreed: 0 });
    if (previous >= 0 && shared === sizeOf(list, position) && shared === sizeOf(list, positions[previous]!)) {
      if (!isRepeating) repeated.push([positions[previous]!]);
      repeated.at(-1)!.push(position);
      isRepeating = true;
      continue;
    }
    let outer = previous;
    while (outer >= 0 && sizeOf(list, positions[outer]!) > shared) outer = around[outer]!;
    positions[count] = position;
    around[count] = outer;
    count += 1;
    isRepeating = false;
  }
  return { list, positions: positions.subarray(0, count), around: around.subarray(0, count), repeated };
}

/** Everything wrong with a list of prefixes, in the order that `ScopeConflicts` states. */
export function listConflicts(
  order: PrefixOrder,
  { allowNested }: { readonly allowNested: boolean },
): OwnershipError[] {
  const duplicates: DuplicatePrefix[] = order.repeated
    .toSorted((a, b) => a[1]! - b[1]!)
    .map((positions) => ({ kind: "DuplicatePrefix", prefix: copyOf(order.list, positions[0]!), positions }));
  return allowNested ? duplicates : [...duplicates, ...listOverlaps(order)];
}

function listOverlaps({ list, positions, around }: PrefixOrder): OverlappingPrefix[] {
  const overlaps: OverlappingPrefix[] = [];
  for (let rank = 0; rank < positions.length; rank++) {
    if (around[rank]! < 0) continue;
    const innerPosition = positions[rank]!;
    const outerPosition = positions[around[rank]!]!;
    overlaps.push({
      kind: "OverlappingPrefix",
      inner: copyOf(list, innerPosition),
      outer: copyOf(list, outerPosition),
      innerPosition,
      outerPosition,
    });
  }
  return overlaps.sort((a, b) => laterPosition(a) - laterPosition(b) || a.innerPosition - b.innerPosition);
}

function laterPosition({ innerPosition, outerPosition }: OverlappingPrefix): number {
  return Math.max(innerPosition, outerPosition);
}

function copyOf({ bytes, starts }: PrefixList, position: number): Uint8Array {
  return bytes.slice(starts[position], starts[position + 1]);
}
