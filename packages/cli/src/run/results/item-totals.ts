import type { ItemTotals } from "@gossip/insight";
import { formatCount } from "../../output/number-words.ts";

export { decodeTotalsToken, encodeTotalsToken, NO_ITEMS, type ItemTotals } from "@gossip/insight";

export function addTotals(a: ItemTotals, b: ItemTotals): ItemTotals {
  return { items: a.items + b.items, failed: a.failed + b.failed, unreadable: a.unreadable + b.unreadable };
}

/** Whether nothing was skipped. */
export function isFlawless({ failed, unreadable }: ItemTotals): boolean {
  return failed + unreadable === 0;
}

/** How many items failed, and how many could not be read; empty if none. */
export function flaws({ failed, unreadable }: ItemTotals): string {
  const ofThem = failed === 0 ? "" : `, ${formatCount(failed)} of them failed`;
  return unreadable === 0 ? ofThem : `${ofThem}, ${formatCount(unreadable)} could not be read`;
}
