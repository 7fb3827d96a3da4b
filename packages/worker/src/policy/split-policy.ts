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

/** How many parts the last items of a shard are offered in before any worker waits. */
const TAIL_PARTS = 4;
/** How long before its tail begins a holder offers it. Holders look four times a second. */
const TAIL_LEAD_MS = 500;
/** A rest of at most so many of the smallest parts is cut into all of them. */
const SHORT_REST_PARTS = 8;

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

/** The items that a holder has read but not started, if nothing follows them. */
export interface Rest {
  readonly aheadCount: number;
  /** The expected time per item. */
  readonly itemMs: number;
}

/**
 * How many parts of a rest to split off if `wanted` workers wait, or may be waiting.
 *
 * No part is smaller than the least work that is handed over. A short rest is cut into all of its smallest parts: near
 * the end of a run more workers wait than a report shows, and a part of several items would end later than the others.
 */
export function partCount(policy: SplitPolicy, rest: Rest, wanted: number): number {
  const most = Math.floor(rest.aheadCount / leastItems(policy, rest));
  return Math.max(1, most <= SHORT_REST_PARTS ? most : Math.min(wanted, most - 1));
}

/**
 * Where to cut off the tail of a shard, as indexes of the items ahead: the last few parts, each of the least size.
 * Empty if the tail is still far away, or if what is left is smaller than one part.
 */
export function tailCuts(policy: SplitPolicy, rest: Rest): readonly number[] {
  const { aheadCount, itemMs } = rest;
  const size = leastItems(policy, rest);
  if ((aheadCount - TAIL_PARTS * size) * itemMs > TAIL_LEAD_MS) return [];
  const parts = Math.min(TAIL_PARTS, Math.floor(aheadCount / size));
  return Array.from({ length: parts }, (_, index) => aheadCount - (parts - index) * size);
}

/** The items of the smallest part that is handed over. */
function leastItems({ minHandoverMs }: SplitPolicy, { itemMs }: Rest): number {
  return Math.max(1, Math.ceil(minHandoverMs / Math.max(itemMs, Number.EPSILON)));
}
