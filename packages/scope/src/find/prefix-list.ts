import { assert } from "@gossip/stdx";
import { MAX_INDEX_SIZE } from "../limits.ts";

/**
 * Byte strings laid end to end, string `n` at `bytes[starts[n], starts[n + 1])`.
 *
 * Sorting and indexing many prefixes is bound by memory access: this form is one block, whereas an array of
 * arrays is one jump per string.
 */
export interface PrefixList {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
}

export function layEndToEnd(prefixes: readonly Uint8Array[]): PrefixList {
  const starts = new Int32Array(prefixes.length + 1);
  let size = 0;
  for (let index = 0; index < prefixes.length; index++) {
    starts[index] = size;
    size += prefixes[index]!.length;
    assert(size <= MAX_INDEX_SIZE, () => `the prefixes of a table must take at most ${MAX_INDEX_SIZE} bytes`);
  }
  starts[prefixes.length] = size;

  const bytes = new Uint8Array(size);
  for (let index = 0; index < prefixes.length; index++) bytes.set(prefixes[index]!, starts[index]!);
  return { bytes, starts };
}

export function sizeOf({ starts }: PrefixList, index: number): number {
  return starts[index + 1]! - starts[index]!;
}

/** The length of the common prefix of two strings, which are known to agree in the first `agreed` bytes. */
export function sharedSize(
  list: PrefixList,
  { a, b, agreed }: { readonly a: number; readonly b: number; readonly agreed: number },
): number {
  const { bytes, starts } = list;
  const limit = Math.min(sizeOf(list, a), sizeOf(list, b));
  const aStart = starts[a]!;
  const bStart = starts[b]!;
  let size = agreed;
  while (size < limit && bytes[aStart + size] === bytes[bStart + size]) size += 1;
  return size;
}
