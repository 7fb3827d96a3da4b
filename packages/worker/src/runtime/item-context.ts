import type { FenceEpoch, ShardKey, ShardSpec, WorkerId } from "@gossip/contracts";
import type { Item } from "../sources/source.ts";

/** The shard that an item belongs to, as its holder knows it. */
export interface HeldShard {
  readonly key: ShardKey;
  /** The remaining range. A split narrows it. */
  readonly spec: ShardSpec;
}

/** Passed to `process` with each item. All first attempts within a shard share one object; a retry gets its own. */
export interface ItemContext {
  /**
   * Pass this to the systems that the work writes to, so that they can refuse a worker that lost its shard. It grows
   * with every later holder of a key, even if a split moved the key to another shard. It fits in a signed 64-bit
   * integer.
   */
  readonly writeFence: bigint;
  /** The shard's own fence. It grows with every later holder of this shard. A shard created by a split starts over. */
  readonly fence: FenceEpoch;
  /**
   * Fires when there is no point in continuing: the lease is lost, the run has ended, or the process is stopping and
   * the item's grace period is over. The reason is a `WorkStopped`. A result returned after that is not counted.
   */
  readonly signal: AbortSignal;
  readonly shard: HeldShard;
  readonly worker: WorkerId;
  /** 1 on this holder's first attempt at the item, one more with each retry. */
  readonly attempt: number;
}

/**
 * The work itself. It is called at least once for every item, and again after a crash or a lost lease. Two items of a
 * shard run at the same time only if `itemConcurrency` allows it.
 *
 * If it can return a result synchronously it should not be `async`: a promise costs more than most items do. An item
 * that throws is retried (`RetryAfter` sets the delay, `ParkShard` prevents retries). After the last retry, the shard
 * is parked or the item skipped.
 */
export type Process<I extends Item = Item, R = unknown> = (item: I, context: ItemContext) => R | PromiseLike<R>;
