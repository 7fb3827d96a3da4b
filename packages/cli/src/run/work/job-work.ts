import type { ClassifyFailure, Item, Process } from "@gossip/worker";
import type { ItemResult } from "../results/item-result.ts";

/** What to do with an item that fails on every attempt. */
export type OnFail = "skip" | "park";

export interface FailurePolicy {
  /** The total number of attempts. */
  readonly maxAttempts: number;
  readonly onFail: OnFail;
}

/** The work for every item: a command, or a function of a module. */
export interface JobWork {
  readonly process: Process<Item, ItemResult>;
  readonly policy: FailurePolicy;
  readonly classifyFailure?: ClassifyFailure;
  /** Whether it may block this process for seconds. */
  readonly mayBlock: boolean;
  close(): Promise<void>;
  /** Kill everything in progress, because this process is about to exit. */
  killAtOnce(): void;
}
