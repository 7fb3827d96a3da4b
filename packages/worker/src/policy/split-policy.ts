import { assert, assertCount } from "@gossip/stdx";

/** When a shard is split for workers that wait. */
export interface SplitPolicy {
  /** Work that a split must be expected to hand over, in milliseconds at the pace so far. */
  readonly minHandoverMs: number;
  /** The least time between two splits of a shard. */
  readonly minIntervalMs: number;
}

export type SplitInput = Partial<SplitPolicy>;

export const DEFAULT_SPLIT: SplitPolicy = /* @__PURE__ */ Object.freeze({ minHandoverMs: 50, minIntervalMs: 100 });

export function makeSplitPolicy(input: SplitInput = {}): SplitPolicy {
  assert(typeof input === "object" && input !== null, () => `split must be an object or false, got ${typeof input}`);
  const { minHandoverMs, minIntervalMs } = { ...DEFAULT_SPLIT, ...input };
  assertCount(minHandoverMs, "least handover of split", { min: 0, max: 86_400_000 });
  assertCount(minIntervalMs, "least interval of split", { min: 0, max: 86_400_000 });
  return { minHandoverMs, minIntervalMs };
}

/** What a holder knows of its shard when somebody waits for work. */
export interface SplitOutlook {
  readonly nowMs: number;
  /** When the shard was claimed. */
  readonly heldSinceMs: number;
  readonly lastSplitMs: number | undefined;
  /** Items finished since the shard was claimed. */
  readonly itemCount: number;
  /** Items that were read and not begun. */
  readonly aheadCount: number;
  /** Whether those are all there is. */
  readonly isEndKnown: boolean;
}

/**
 * Whether a split hands over enough to be worth its writes.
 *
 * The pace is that of the shard so far; one that has finished nothing yet is taken to need as long for each item as it
 * has been held. Where the end is not in sight there may be any amount of work, and being held for a while is reason enough.
 */
export function isWorthSplitting({ minHandoverMs, minIntervalMs }: SplitPolicy, outlook: SplitOutlook): boolean {
  const { nowMs, heldSinceMs, lastSplitMs, itemCount, aheadCount, isEndKnown } = outlook;
  if (lastSplitMs !== undefined && nowMs - lastSplitMs < minIntervalMs) return false;
  const heldMs = nowMs - heldSinceMs;
  if (!isEndKnown) return heldMs >= minHandoverMs;
  // The holder is busy with what it has begun, so of one item ahead all is handed over.
  const handedOver = Math.ceil(aheadCount / 2);
  return handedOver > 0 && (heldMs / Math.max(1, itemCount)) * handedOver >= minHandoverMs;
}
