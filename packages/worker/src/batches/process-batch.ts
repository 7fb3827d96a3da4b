import type { ItemContext } from "../runtime/item-context.ts";
import type { RunWorkersOptions } from "../runtime/run-workers-options.ts";
import type { Item } from "../sources/source.ts";

/** The outcome of an item of a batch: its result, or why it failed. */
export type BatchOutcome<R = unknown> = { readonly result: R } | { readonly error: unknown };

/** The outcomes, one for each item, in the order of the items. `undefined`: all succeeded, without a result. */
export type BatchOutcomes<R = unknown> = readonly BatchOutcome<R>[] | undefined;

/**
 * Does the work for several items of a shard at once.
 *
 * An item whose outcome is an error is retried like an item that throws, alone. If the function throws, all of the batch
 * failed, and any of its items may be to blame: the batch is cut in two and both halves are tried, until the item that
 * fails alone is found. So the function must bear to be called again with items that it has done. If a dependency is
 * unavailable nothing is cut: all items wait and are retried.
 */
export type ProcessBatch<I extends Item = Item, R = unknown> = (
  items: readonly I[],
  context: ItemContext,
) => BatchOutcomes<R> | PromiseLike<BatchOutcomes<R>>;

/** Options of `runWorkers` for work on several items at once. */
export interface RunBatchesOptions<I extends Item = Item, R = unknown> extends Omit<
  RunWorkersOptions<I, R>,
  "process" | "itemConcurrency"
> {
  readonly processBatch: ProcessBatch<I, R>;
  /** The most items of a batch, 1 to 10,000. A batch has fewer if no more can be read at once. Default: 100. */
  readonly batchSize?: number;
  /** Batches of one shard that run at the same time. Default: 1. */
  readonly batchConcurrency?: number;
}
