import { assert, assertCount } from "@gossip/stdx";
import type { RunWorkersOptions } from "../runtime/run-workers-options.ts";
import type { Item } from "../sources/source.ts";
import { SYSTEM_TIME } from "../time/worker-time.ts";
import { BatchCollector } from "./batch-collector.ts";
import type { RunBatchesOptions } from "./process-batch.ts";

const DEFAULT_BATCH_SIZE = 100;
/** Of items of a shard at the same time. */
const MAX_ITEMS = 10_000;

/**
 * The options of `runWorkers` for single items that do the same work.
 *
 * Items are started one by one and collected. So progress, retries, failures and results are those of single items, and
 * only the call of the caller's function is shared.
 */
export function inBatches<I extends Item, R>(options: RunBatchesOptions<I, R>): RunWorkersOptions<I, R> {
  const { processBatch, batchSize = DEFAULT_BATCH_SIZE, batchConcurrency = 1, itemTimeoutMs, ...rest } = options;
  assert(typeof processBatch === "function", () => `processBatch must be a function, got ${typeof processBatch}`);
  assert(!("process" in options), "runWorkers takes process or processBatch, not both");
  assertCount(batchSize, "batchSize", { min: 1, max: MAX_ITEMS });
  assertCount(batchConcurrency, "batchConcurrency", { min: 1, max: Math.floor(MAX_ITEMS / batchSize) });
  if (itemTimeoutMs !== undefined) assertCount(itemTimeoutMs, "itemTimeoutMs", { min: 1, max: 86_400_000 });
  const { time = SYSTEM_TIME, classifyFailure } = options;
  const timeoutMs = itemTimeoutMs;
  const collector = new BatchCollector<I, R>({ processBatch, batchSize, timeoutMs, time, classifyFailure });
  return {
    ...rest,
    process: (item, context) => collector.add(item, context),
    itemConcurrency: batchSize * batchConcurrency,
  };
}
