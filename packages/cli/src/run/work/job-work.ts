import type { ClassifyFailure, Item, Process, ProcessBatch } from "@gossip/worker";
import type { ItemResult } from "../results/item-result.ts";

/** What to do with an item that fails on every attempt. */
export type OnFail = "skip" | "park";

export interface FailurePolicy {
  /** The total number of attempts. */
  readonly maxAttempts: number;
  readonly onFail: OnFail;
}

/** The work for every item: a command, a function of a module, or a process. */
export interface JobWork {
  readonly process: Process<Item, ItemResult>;
  /** If it works on several items at once. Then `process` is not called. */
  readonly batches?: { readonly processBatch: ProcessBatch<Item, ItemResult>; readonly batchSize?: number };
  readonly policy: FailurePolicy;
  readonly classifyFailure?: ClassifyFailure;
  /** Whether it may block this process for seconds. */
  readonly mayBlock: boolean;
  /** How many items of one shard it can use at the same time now. Default: one. */
  readonly itemConcurrency?: () => number;
  /** Fires if no item can succeed. The reason is a `CliError`. */
  readonly broken?: AbortSignal;
  /** Pass on what it writes beside its results. `onLog` returns a promise if the reader is behind. */
  logTo?(onLog: (text: string) => Promise<void> | undefined): void;
  /** Start no more items: this process is stopping. Items in progress may finish. */
  stopStarting?(): void;
  close(): Promise<void>;
  /** Kill everything in progress, because this process is about to exit. */
  killAtOnce(): void;
}
