import { ItemTimedOut } from "./item-timed-out.ts";

/** Why an item is given up. The same words as in the coordinator's failure ledger. */
export type ItemFailureReason = "ItemFailed" | "TimedOut" | "ResultRefused" | "Crashed";

/** An item that failed for the last time. */
export interface ItemFailure {
  readonly attempts: number;
  readonly reason: ItemFailureReason;
  /** What was thrown. */
  readonly cause: unknown;
}

export function reasonOf(cause: unknown): ItemFailureReason {
  return cause instanceof ItemTimedOut ? "TimedOut" : "ItemFailed";
}
