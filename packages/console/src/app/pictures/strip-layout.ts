import type { LeafState, Strip, StripBuckets, StripShard } from "../data/api-types.ts";
import { shareOf, type KeyWindow } from "./window.ts";

/** A rectangle of the strip, over its whole height. */
export interface StripBlock {
  readonly x: number;
  readonly width: number;
  readonly state: LeafState;
}

export interface StripLayout {
  readonly blocks: readonly StripBlock[];
  /** Where shards begin, if there is room to show it. */
  readonly borders: readonly number[];
  /** Where cursors are. */
  readonly cursors: readonly number[];
}

/** A parked or leased shard is never thinner than this: it is what an operator looks for. */
const LEAST_WIDTH = 2;
/** Borders are drawn if shards are at least this wide on average. */
const BORDER_WIDTH = 5;

/**
 * Places the shards of a strip on `width` pixels. The strip may have been read for another window than the one that is
 * shown, while a new one is on its way.
 */
export function layoutStrip(strip: Strip, window: KeyWindow, width: number): StripLayout {
  if (strip.shards !== undefined) return layoutShards(strip.shards, window, width);
  return strip.buckets === undefined
    ? { blocks: [], borders: [], cursors: [] }
    : layoutBuckets(strip.buckets, strip, window, width);
}

function layoutShards(shards: readonly StripShard[], window: KeyWindow, width: number): StripLayout {
  const at = (position: number): number => shareOf(window, position) * width;
  const blocks: StripBlock[] = [];
  const add = (from: number, to: number, state: LeafState): void => {
    const [x, end] = [Math.max(0, at(from)), Math.min(width, at(to))];
    if (end > x) blocks.push({ x, width: end - x, state });
  };
  for (const { from, to, state, cursor } of shards) {
    const middle = state === "done" || cursor === undefined ? from : Math.min(to, Math.max(from, cursor.position));
    add(from, middle, "done");
    add(middle, to, state);
  }
  const visible = shards.filter(({ from, to }) => at(to) > 0 && at(from) < width);
  return {
    blocks: byUrgency(blocks.map((block) => atLeast(block, width))),
    borders: visible.length * BORDER_WIDTH > width ? [] : visible.map(({ from }) => at(from)).filter((x) => x > 0),
    cursors: visible
      .filter(({ state, cursor }) => cursor !== undefined && state !== "done")
      .map(({ cursor }) => at(cursor!.position))
      .filter((x) => x >= 0 && x <= width),
  };
}

const FILLS: Readonly<Record<string, LeafState>> = { d: "done", l: "leased", w: "waiting", p: "parked" };

function layoutBuckets(buckets: StripBuckets, read: KeyWindow, window: KeyWindow, width: number): StripLayout {
  const step = (read.to - read.from) / buckets.count;
  const at = (bucket: number): number => shareOf(window, read.from + bucket * step) * width;
  const blocks: StripBlock[] = [];
  let begin = 0;
  for (let bucket = 1; bucket <= buckets.count; bucket++) {
    if (bucket < buckets.count && buckets.fill[bucket] === buckets.fill[begin]) continue;
    const state = FILLS[buckets.fill[begin] ?? "-"];
    const [x, end] = [Math.max(0, at(begin)), Math.min(width, at(bucket))];
    if (state !== undefined && end > x) blocks.push(atLeast({ x, width: end - x, state }, width));
    begin = bucket;
  }
  return { blocks: byUrgency(blocks), borders: [], cursors: [] };
}

function atLeast(block: StripBlock, width: number): StripBlock {
  if (block.width >= LEAST_WIDTH || block.state === "done" || block.state === "waiting") return block;
  return { ...block, x: Math.min(block.x, width - LEAST_WIDTH), width: LEAST_WIDTH };
}

const ORDER: readonly LeafState[] = ["done", "waiting", "leased", "parked"];

/** What is urgent is drawn last, over its neighbors. */
function byUrgency(blocks: readonly StripBlock[]): StripBlock[] {
  return ORDER.flatMap((state) => blocks.filter((block) => block.state === state));
}

/** What is at a position: a shard, or the counts of a bucket. */
export type StripHit =
  | { readonly kind: "shard"; readonly shard: StripShard }
  | {
      readonly kind: "bucket";
      readonly counts: Readonly<Record<LeafState, number>>;
      readonly fill: LeafState;
      readonly from: number;
      readonly to: number;
    };

export function hitStrip(strip: Strip, position: number): StripHit | undefined {
  if (strip.shards !== undefined) {
    const shard = findShard(strip.shards, position);
    return shard && { kind: "shard", shard };
  }
  const { buckets } = strip;
  if (buckets === undefined) return undefined;
  const step = (strip.to - strip.from) / buckets.count;
  const index = Math.floor((position - strip.from) / step);
  const fill = FILLS[buckets.fill[index] ?? "-"];
  if (fill === undefined) return undefined;
  const { done, leased, waiting, parked } = buckets;
  return {
    kind: "bucket",
    counts: {
      done: done[index] ?? 0,
      leased: leased[index] ?? 0,
      waiting: waiting[index] ?? 0,
      parked: parked[index] ?? 0,
    },
    fill,
    from: strip.from + index * step,
    to: strip.from + (index + 1) * step,
  };
}

/** Binary search: shards come in key order. */
function findShard(shards: readonly StripShard[], position: number): StripShard | undefined {
  let [low, high] = [0, shards.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (shards[middle]!.from <= position) low = middle;
    else high = middle - 1;
  }
  const found = shards[low];
  return found !== undefined && found.from <= position && position < Math.max(found.to, found.from + 1e-12)
    ? found
    : undefined;
}
