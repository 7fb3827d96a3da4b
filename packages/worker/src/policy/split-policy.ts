import { assert, assertCount } from "@gossip/stdx";

/** When a shard is split for idle workers. */
export interface SplitPolicy {
  /** The least work that a split must be expected to hand over, in milliseconds at the current pace. */
  readonly minHandoverMs: number;
  /** The shortest time between two splits of a shard. */
  readonly minIntervalMs: number;
}

export type SplitInput = Partial<SplitPolicy>;

export const DEFAULT_SPLIT: SplitPolicy = /* @__PURE__ */ Object.freeze({ minHandoverMs: 50, minIntervalMs: 50 });

/** Limits the interval to 128 times the minimum. */
const MAX_DOUBLINGS = 7;

export function makeSplitPolicy(input: SplitInput = {}): SplitPolicy {
  assert(typeof input === "object" && input !== null, () => `split must be an object or false, got ${typeof input}`);
  const { minHandoverMs = DEFAULT_SPLIT.minHandoverMs, minIntervalMs = DEFAULT_SPLIT.minIntervalMs } = input;
  assertCount(minHandoverMs, "minHandoverMs of split", { min: 0, max: 86_400_000 });
  assertCount(minIntervalMs, "minIntervalMs of split", { min: 0, max: 86_400_000 });
  return { minHandoverMs, minIntervalMs };
}

/** What a holder knows about its shard when another worker is idle. */
export interface SplitOutlook {
  readonly nowMs: number;
  /** When the shard was claimed. */
  readonly heldSinceMs: number;
  /** When its first item was started. `undefined` before that. */
  readonly workingSinceMs: number | undefined;
  readonly lastSplitMs: number | undefined;
  /** How many times in a row no split point was found. */
  readonly missCount: number;
  /** Items finished since the shard was claimed. */
  readonly itemCount: number;
  /** What an item of the earlier shards of this process took, if there were any. */
  readonly earlierMs: number | undefined;
  /** Items that were read but not started. */
  readonly aheadCount: number;
  /** Whether the shard has no further items. */
  readonly isEndKnown: boolean;
}

/**
 * The expected time per item. The first estimate is what items of earlier shards took, `earlierMs`, if there were any.
 * Otherwise a shard that has not finished an item yet is assumed to need the time that it has been held.
 */
export function paceMs({
  heldMs,
  itemCount,
  earlierMs,
}: {
  readonly heldMs: number;
  readonly itemCount: number;
  readonly earlierMs: number | undefined;
}): number {
  return earlierMs === undefined ? heldMs / Math.max(1, itemCount) : (earlierMs + heldMs) / (1 + itemCount);
}

/**
 * How much work a split is expected to hand over, in milliseconds at the current pace. 0 if a split is not worth its
 * writes.
 *
 * As long as the end is unknown, the shard may hold any amount of work, so having held it for a while is reason enough.
 * Before that, the items that were read count alone: a folder of slow items is shared within milliseconds.
 */
export function expectedHandoverMs({ minHandoverMs, minIntervalMs }: SplitPolicy, outlook: SplitOutlook): number {
  const {
    nowMs,
    heldSinceMs,
    workingSinceMs = nowMs,
    lastSplitMs,
    missCount,
    itemCount,
    earlierMs,
    aheadCount,
    isEndKnown,
  } = outlook;
  // A source may have to read a lot to find a split point. A source that finds none is asked less and less often.
  const intervalMs = minIntervalMs * 2 ** Math.min(missCount, MAX_DOUBLINGS);
  if (lastSplitMs !== undefined && nowMs - lastSplitMs < intervalMs) return 0;
  const heldMs = nowMs - heldSinceMs;
  if (!isEndKnown && heldMs >= minHandoverMs) return Infinity;
  // The holder is busy with the items it has started, so a single item ahead is handed over.
  const workedMs = isEndKnown ? heldMs : nowMs - workingSinceMs;
  const handoverMs = paceMs({ heldMs: workedMs, itemCount, earlierMs }) * Math.ceil(aheadCount / 2);
  return handoverMs >= minHandoverMs ? handoverMs : 0;
}
