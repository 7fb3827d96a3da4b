import type { ClassifyFailure, Item, ItemContext } from "@gossip/worker";

/** Does the work for one item. What it returns, or what its promise resolves to, is the item's result. */
export type JobFunction<I extends Item = Item, R = unknown> = (item: I, context: ItemContext) => R | Promise<R>;

/** What a module of `gossip run --module` exports by default. */
export interface Job<I extends Item = Item, R = unknown> {
  readonly process: JobFunction<I, R>;
  /** Decides whether an error is the item's fault, a dependency's, or permanent. `undefined` leaves it to Gossip. */
  readonly classifyFailure?: ClassifyFailure;
  /** Called once, after the last item of this process. */
  readonly close?: () => void | Promise<void>;
}

/** Returns its argument, typed as a job: `export default defineJob<FileItem>(async ({ path }) => …)`. */
export function defineJob<I extends Item, R = unknown>(job: JobFunction<I, R> | Job<I, R>): Job<I, R> {
  return typeof job === "function" ? { process: job } : job;
}
