import type { ClassifyFailure, Item, ItemContext, ProcessBatch } from "@gossip/worker";

/** Does the work for one item. What it returns, or what its promise resolves to, is the item's result. */
export type JobFunction<I extends Item = Item, R = unknown> = (item: I, context: ItemContext) => R | Promise<R>;

/** Does the work for several items of a shard at once. */
export interface JobBatches<I extends Item = Item, R = unknown> {
  /** Returns an outcome for each item: `{ result }` or `{ error }`. A batch that throws is cut until one item is left. */
  readonly batch: ProcessBatch<I, R>;
  /** The most items of a batch. Default: 100. */
  readonly size?: number;
}

/** What a module of `gossip run --module` exports by default. */
export interface Job<I extends Item = Item, R = unknown> {
  /** A function for each item, or one for batches. */
  readonly process: JobFunction<I, R> | JobBatches<I, R>;
  /** Decides whether an error is the item's fault, a dependency's, or permanent. `undefined` leaves it to Gossip. */
  readonly classifyFailure?: ClassifyFailure;
  /** Called once, after the last item of this process. */
  readonly close?: () => void | Promise<void>;
}

/** Returns its argument, typed as a job: `export default defineJob<FileItem>(async ({ path }) => …)`. */
export function defineJob<I extends Item, R = unknown>(job: JobFunction<I, R> | Job<I, R>): Job<I, R> {
  return typeof job === "function" ? { process: job } : job;
}
