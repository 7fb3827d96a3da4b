import { MAX_KEY_SIZE, MAX_METADATA_SIZE, MAX_TOKEN_SIZE, SHARD_OP_LOG_CAP } from "@gossip/contracts";
import { assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** The contents that a `MemoryStore` is planned for. Every number is a maximum. */
export interface MemoryLoad {
  /** Shards that exist at one time. Finished shards count until their run is deleted. */
  readonly shards: number;
  readonly runs: number;
  /** Bytes of a shard's two bounds and its metadata together. */
  readonly specSize: number;
  /** Bytes of a cursor's key and its token together. */
  readonly cursorSize: number;
  /** Operations that a shard remembers: 16 by default, which is the maximum. */
  readonly loggedOps?: number;
}

/** The memory that the contents take, in bytes. */
export interface MemoryPlan {
  /** The `slabCapacity` of the store. */
  readonly slabCapacity: number;
  /** Roughly what the store takes beside the slab. Notes are not included. */
  readonly heapBytes: number;
  readonly totalBytes: number;
}

/** Smallest block of a slab. */
const MIN_BLOCK_SIZE = 16;

// Measured with Node 20 and rounded up: 541 for a shard that was never acquired, 48 more for its lease, 166 for a
// logged operation.
const HEAP_PER_SHARD = 640;
const HEAP_PER_LOGGED_OP = 176;
const HEAP_PER_RUN = 4096;
const HEAP_OF_STORE = 1024 * 1024;

/**
 * Plans the memory of a `MemoryStore`. *Addition* in its numbers: the original's describe records of another language.
 *
 * The slab size is exact if all specs have one size and all cursors have one size: the planned contents then fit, and a
 * checkpoint always finds room for the new cursor next to the old one. If sizes vary a lot, free space is lost between
 * blocks; add half as much again. The other number is a measurement.
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
  // Blocks lie at multiples of their own size, so the first large one may leave a gap. A replacement is written before
  // the old block is freed.
  const slabCapacity = shards * (spec + cursor) + 2 * Math.max(spec, cursor);
  const heapBytes = HEAP_OF_STORE + runs * HEAP_PER_RUN + shards * (HEAP_PER_SHARD + loggedOps * HEAP_PER_LOGGED_OP);
  return { slabCapacity, heapBytes, totalBytes: slabCapacity + heapBytes };
}

/** Returns the slab space that this many bytes take. */
function blockSize(size: number): number {
  return size === 0 ? 0 : Math.max(MIN_BLOCK_SIZE, 2 ** Math.ceil(Math.log2(size)));
}
