import { GRANULE } from "./slab-blocks.ts";

/** Largest block that a slab hands out, in bytes. */
export const MAX_BLOCK_SIZE = 2 ** 31;

/** The granules of the least class that holds `size` bytes: a power of two. `size` is from 1 to `MAX_BLOCK_SIZE`. */
export function classGranules(size: number): number {
  const granules = (size + (GRANULE - 1)) >>> 4;
  // `granules - 1` is zero for the smallest class, whose 32 leading zeros make the shift 0.
  return 1 << (32 - Math.clz32(granules - 1));
}

/** The granules of the largest class that fits into a run of them; zero where none does. */
export function largestClassWithin(granules: number): number {
  return granules === 0 ? 0 : Math.min(2 ** (31 - Math.clz32(granules)), MAX_BLOCK_SIZE / GRANULE);
}
