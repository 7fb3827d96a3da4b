import { MAX_KEY_SIZE, MAX_METADATA_SIZE, MAX_TOKEN_SIZE, SHARD_OP_LOG_CAP } from "@gossip/contracts";
import { assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** What a `MemoryStore` is to hold. Every number is the greatest there will be. */
export interface MemoryLoad {
  /** Shards that exist at one time. Finished ones count until their run is deleted. */
  readonly shards: number;
  readonly runs: number;
  /** Bytes of a shard's two bounds and its metadata together. */
  readonly specSize: number;
  /** Bytes of a cursor's key and its token together. */
  readonly cursorSize: number;
  /** Operations that a shard remembers: 16 by default, which is the most. */
  readonly loggedOps?: number;
}

/** How much memory that takes, in bytes. */
export interface MemoryPlan {
  /** The `slabCapacity` of the store. */
  readonly slabCapacity: number;
  /** About what the store takes besides it. Notes are not included. */
  readonly heapBytes: number;
  readonly totalBytes: number;
}

/** Smallest block of a slab. */
const MIN_BLOCK_SIZE = 16;

// As measured with Node 20 and rounded up: 541 for a shard that was never acquired, 48 more for its lease, 166 for a logged operation.
const HEAP_PER_SHARD = 640;
const HEAP_PER_LOGGED_OP = 176;
const HEAP_PER_RUN = 4096;
const HEAP_OF_STORE = 1024 * 1024;

/**
 * Plan the memory of a `MemoryStore`. *Addition* in its numbers: the original's are of another language's records.
 *
 * The slab is exact where all specs and all cursors are of one size each: what is planned for then fits,
 * and a checkpoint always finds room for the new cursor beside the old. Where sizes vary much, free
 * space lies between blocks that are in use; give it half as much again. The rest is
 * a measurement, and as good as one.
 */
export function planMemory(load: MemoryLoad): MemoryPlan {
  assertObject(load, "memory load");
  const { shards, runs, specSize, cursorSize, loggedOps = SHARD_OP_LOG_CAP } = load;
  const many = { min: 0, max: 1_000_000_000 } as const;
  assertCount(shards, "number of shards", many);
  assertCount(runs, "number of runs", many);
  assertCount(specSize, "size of a spec", { min: 0, max: 2 * MAX_KEY_SIZE + MAX_METADATA_SIZE });
  assertCount(cursorSize, "size of a cursor", { min: 0, max: MAX_KEY_SIZE + MAX_TOKEN_SIZE });
  assertCount(loggedOps, "number of logged operations", { min: 0, max: SHARD_OP_LOG_CAP });

  const spec = blockSize(specSize);
  const cursor = blockSize(cursorSize);
  // Blocks lie at multiples of their own size, so the first large one may leave a gap; and what replaces a block is written beside it.
  const slabCapacity = shards * (spec + cursor) + 2 * Math.max(spec, cursor);
  const heapBytes = HEAP_OF_STORE + runs * HEAP_PER_RUN + shards * (HEAP_PER_SHARD + loggedOps * HEAP_PER_LOGGED_OP);
  return { slabCapacity, heapBytes, totalBytes: slabCapacity + heapBytes };
}

/** What a slab takes for so many bytes. */
function blockSize(size: number): number {
  return size === 0 ? 0 : Math.max(MIN_BLOCK_SIZE, 2 ** Math.ceil(Math.log2(size)));
}
