import { classifyFailure, type ClassifyFailure } from "../policy/failure-class.ts";
import type { ItemContext } from "../runtime/item-context.ts";
import { ParkShard } from "../runtime/park-shard.ts";
import { TimedCall } from "../runtime/timed-call.ts";
import type { Item } from "../sources/source.ts";
import type { WorkerTime } from "../time/worker-time.ts";
import type { BatchOutcomes, ProcessBatch } from "./process-batch.ts";

export interface CollectorOptions<I extends Item, R> {
  readonly processBatch: ProcessBatch<I, R>;
  readonly batchSize: number;
  /** How long one call may take. */
  readonly timeoutMs: number | undefined;
  readonly time: WorkerTime;
  readonly classifyFailure: ClassifyFailure | undefined;
}

interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (cause: unknown) => void;
}

/** Makes batches of the items that are started one by one, and settles each with its own outcome. */
export class BatchCollector<I extends Item, R> {
  readonly #options: CollectorOptions<I, R>;
  /** By context: all first attempts of a hold share one, and a retry has its own, so that it runs alone. */
  readonly #open = new Map<ItemContext, Waiting<I, R>[]>();

  constructor(options: CollectorOptions<I, R>) {
    this.#options = options;
  }

  /** Called for each item, like `process`. */
  add(item: I, context: ItemContext): Promise<R> {
    return new Promise((resolve, reject) => {
      const batch = this.#open.get(context);
      const waiting = { item, resolve, reject };
      if (batch === undefined) {
        this.#open.set(context, [waiting]);
        // Items that can be started now are started within this turn of the event loop.
        if (this.#options.batchSize > 1) setImmediate(() => this.#flush(context));
      } else batch.push(waiting);
      if ((batch?.length ?? 1) === this.#options.batchSize) this.#flush(context);
    });
  }

  #flush(context: ItemContext): void {
    const batch = this.#open.get(context);
    if (batch === undefined) return;
    this.#open.delete(context);
    void this.#run(batch, context);
  }

  /** Never rejects. */
  async #run(batch: readonly Waiting<I, R>[], context: ItemContext): Promise<void> {
    let outcomes: BatchOutcomes<R>;
    try {
      outcomes = await this.#call(
        batch.map(({ item }) => item),
        context,
      );
    } catch (cause) {
      if (batch.length === 1 || context.signal.aborted || !this.#mayBeOneItem(cause))
        for (const { reject } of batch) reject(cause);
      else {
        const middle = Math.ceil(batch.length / 2);
        await this.#run(batch.slice(0, middle), context);
        await this.#run(batch.slice(middle), context);
      }
      return;
    }
    settle(batch, outcomes);
  }

  #call(items: readonly I[], context: ItemContext): Promise<BatchOutcomes<R>> {
    const { processBatch, timeoutMs, time } = this.#options;
    if (timeoutMs === undefined) return Promise.resolve(processBatch(items, context));
    const call = new TimedCall(context, time, timeoutMs);
    return new Promise((resolve, reject) => {
      call.start(reject);
      Promise.resolve(processBatch(items, call.context))
        .then((outcomes) => (call.timedOut === undefined ? resolve(outcomes) : reject(call.timedOut)))
        .catch((cause: unknown) => reject(call.failure(cause)))
        .finally(() => call.end());
    });
  }

  /** Whether one item may have made the whole batch fail. */
  #mayBeOneItem(cause: unknown): boolean {
    if (cause instanceof ParkShard) return false;
    let failureClass;
    try {
      failureClass = this.#options.classifyFailure?.(cause);
    } catch {
      // The caller's function cannot handle this error.
    }
    return (failureClass ?? classifyFailure(cause)) !== "Dependency";
  }
}

function settle<I, R>(batch: readonly Waiting<I, R>[], outcomes: BatchOutcomes<R>): void {
  if (outcomes !== undefined && (!Array.isArray(outcomes) || outcomes.length !== batch.length)) {
    const given = Array.isArray(outcomes) ? `${outcomes.length} outcomes` : typeof outcomes;
    for (const { reject } of batch) reject(new Error(`processBatch returned ${given} for ${batch.length} items`));
    return;
  }
  for (const [index, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes?.[index];
    if (outcome !== undefined && outcome !== null && "error" in outcome) reject(outcome.error);
    else resolve(outcome?.result as R);
  }
}
