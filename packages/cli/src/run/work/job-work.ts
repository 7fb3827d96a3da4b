import type { Item, Process } from "@gossip/worker";
import type { ItemResult } from "../results/item-result.ts";

/** What is to happen to an item that fails however often it is tried. */
export type OnFail = "skip" | "park";

export interface FailurePolicy {
  /** How often an item is tried in all. */
  readonly maxAttempts: number;
  readonly onFail: OnFail;
}

/** What is done to every item: a command, or a function of a module. */
export interface JobWork {
  readonly process: Process<Item, ItemResult>;
  /** Whether it may keep this process from doing anything else for seconds. */
  readonly mayBlock: boolean;
  close(): Promise<void>;
  /** End what is under way: this process is about to. */
  killAtOnce(): void;
}

/** Thrown at the runtime so that it tries the item again, or parks its shard. */
export class ItemFailed extends Error {
  override readonly name = "ItemFailed";
}
