import { MAX_METADATA_SIZE, type ShardArena } from "@gossip/contracts";
import type { SlabFull } from "@gossip/stdx";
import type { ShardIntoError } from "../shards/shard-error.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Smallest size class of a slab. */
const SMALLEST_CLASS = 16;

/**
 * Corrects the error of a full arena after a rollback.
 *
 * `available` must be the largest size class that would succeed now, and there is more room after the rollback. The
 * arena does not report it, so this tries specs of decreasing size.
 */
export function afterRollback<E>(error: ShardIntoError<E>, arena: ShardArena): ShardIntoError<E> {
  // If the slots ran out, and not the bytes, an arena reports `requested: 1, available: 0`.
  if (error.kind !== "SlabFull" || error.requested < SMALLEST_CLASS) return error;
  return { ...error, available: Math.max(error.available, largestClass(arena)) } satisfies SlabFull;
}

function largestClass(arena: ShardArena): number {
  for (let size = MAX_METADATA_SIZE; size >= SMALLEST_CLASS; size /= 2) {
    const metadata = new Uint8Array(size);
    const handle = arena.allocSpec({ keyRangeStart: NO_BYTES, keyRangeEnd: NO_BYTES, metadata });
    if (!handle.ok) continue;
    arena.freeSpec(handle.value);
    return size;
  }
  return 0;
}
