import { assert, assertCount } from "@gossip/stdx";

/** When a shard is split for workers that wait. */
export interface SplitPolicy {
  /** Work that a split must be expected to hand over, in milliseconds at the pace so far. */
  readonly minHandoverMs: number;
  /** The least time between two splits of a shard. */
  readonly minIntervalMs: number;
}

export type SplitInput = Partial<SplitPolicy>;

export const DEFAULT_SPLIT: SplitPolicy = /* @__PURE__ */ Object.freeze({ minHandoverMs: 50, minIntervalMs: 50 });

/** Of the least interval: up to 128 times as long. */
const MAX_DOUBLINGS = 7;

export function makeSplitPolicy(input: SplitInput = {}): SplitPolicy {
  assert(typeof input === "object" && input !== null, () => `split must be an object or false, got ${typeof input}`);
  const { minHandoverMs = DEFAULT_SPLIT.minHandoverMs, minIntervalMs = DEFAULT_SPLIT.minIntervalMs } = input;
  assertCount(minHandoverMs, "minHandoverMs of split", { min: 0, max: 86_400_000 });
  assertCount(minIntervalMs, "minIntervalMs of split", { min: 0, max: 86_400_000 });
  return { minHandoverMs, minIntervalMs };
}

/** What a holder knows of its shard when somebody waits for work. */
export interface SplitOutlook {
  readonly nowMs: number;
  /** When the shard was claimed. */
  readonly heldSinceMs: number;
  readonly lastSplitMs: number | undefined;
  /** How often in a row there was no place to cut. */
  readonly missCount: number;
  /** Items finished since the shard was claimed. */
  readonly itemCount: number;
  /** Items that were read and not begun. */
  readonly aheadCount: number;
  /** Whether those are all there is. */
  readonly isEndKnown: boolean;
}

/** How long an item takes, as far as one can tell: a shard that has finished none is taken to need for each as long as it has been held. */
export function paceMs({ heldMs, itemCount }: { readonly heldMs: number; readonly itemCount: number }): number {
  return heldMs / Math.max(1, itemCount);
}

/**
 * How much work a split is expected to hand over, in milliseconds at the pace so far; 0 where it is not worth its writes.
 *
 * Where the end is not in sight the shard may hold any amount of work, and having been held for a while is reason enough.
 */
export function expectedHandoverMs({ minHandoverMs, minIntervalMs }: SplitPolicy, outlook: SplitOutlook): number {
  const { nowMs, heldSinceMs, lastSplitMs, missCount, itemCount, aheadCount, isEndKnown } = outlook;
  // A source may look at much of what it has to find a place. One that finds none is asked less and less.
  const intervalMs = minIntervalMs * 2 ** Math.min(missCount, MAX_DOUBLINGS);
  if (lastSplitMs !== undefined && nowMs - lastSplitMs < intervalMs) return 0;
  const heldMs = nowMs - heldSinceMs;
  if (!isEndKnown) return heldMs >= minHandoverMs ? Infinity : 0;
  // The holder is busy with what it has begun, so of one item ahead all is handed over.
  const handoverMs = paceMs({ heldMs, itemCount }) * Math.ceil(aheadCount / 2);
  return handoverMs >= minHandoverMs ? handoverMs : 0;
}
