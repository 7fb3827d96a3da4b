import type { FenceEpoch, ShardKey, ShardSpec, WorkerId } from "@gossip/contracts";
import type { Item } from "../source/source.ts";

/** The shard that an item belongs to, as its holder has it. */
export interface HeldShard {
  readonly key: ShardKey;
  /** What is left of its range: a split narrows it. */
  readonly spec: ShardSpec;
}

/** What a call of `process` is told beside its item. All items of a shard share one, but for those that are tried again. */
export interface ItemContext {
  /**
   * Pass it on to whatever the work writes to, so that it can refuse a worker that lost its shard: it is greater for every
   * later holder of a key, also of another shard that a split made. A signed 64-bit integer holds it.
   */
  readonly writeFence: bigint;
  /** The shard's own fence: greater for every later holder of this shard. A shard that a split made begins anew. */
  readonly fence: FenceEpoch;
  /**
   * Fires when going on is of no use: the lease is lost, the run has ended, or the process was told to stop and the
   * item has had its time to finish. Its reason is a `WorkStopped`. What a call answers after that is not counted.
   */
  readonly signal: AbortSignal;
  readonly shard: HeldShard;
  readonly worker: WorkerId;
  /** 1 the first time this holder tries the item, and one more with each retry. */
  readonly attempt: number;
}

/**
 * The work itself. It is called at least once for every item, more often after a crash or a lost lease,
 * and never for two items of a shard at once unless `itemConcurrency` says so.
 *
 * Where it can answer at once it should not be `async`: a promise for each item costs more than most items do.
 * What it throws is tried again (a `RetryAfter` says how soon, a `ParkShard` that it is of no use), then the shard is parked or the item passed over.
 */
export type Process<I extends Item = Item, R = unknown> = (item: I, context: ItemContext) => R | PromiseLike<R>;
