import type { WorkEstimate } from "@gossip/worker";
import { expectShard, type ExpectedShard, type ShardWork } from "./expected-shard.ts";
import { unknownLeft } from "./unknown-left.ts";

/** How much of a run is done and left, in items. */
export interface WorkLeft {
  readonly done: number;
  /** Expected in shards that will be worked on. */
  readonly remaining: number;
  /** Expected in what is left of parked shards. */
  readonly parked: number;
  /** The standard deviation of what is left. 0 if the source knows all of it. */
  readonly deviation: number;
}

/** The weight of the source's word against what was found, as a share of the whole. */
const TRUST = 0.02;
/** Of what the cursor's position says is left, at least this share is. */
const LEAST_LEFT = 0.25;

/**
 * Estimate the work that is left.
 *
 * What is done is known exactly. What is left is, in this order: what the source has counted, less what is done; what
 * its statistics say, corrected by what was found; else the mean of the initial shards seen so far, because a source
 * plans them to be about equal. Returns `undefined` if none of these says anything.
 */
export function estimateWork(shards: readonly ShardWork[], estimate: WorkEstimate): WorkLeft | undefined {
  const expected = shards.map((shard) => expectShard(shard, estimate));
  const correction = estimate.isExact === true ? 1 : correctionOf(expected);
  const unknown = unknownLeft(expected, correction);
  if (unknown === undefined) return undefined;
  const parked = expected.filter(({ status }) => status === "Parked");
  const knownParked = correction * sum(parked, ({ expectedLeft }) => expectedLeft);
  const byPosition = correction * sum(expected, ({ expectedLeft }) => expectedLeft);
  const known = estimate.isExact === true ? leftOfCount(expected, byPosition) : byPosition;
  return {
    done: sum(shards, ({ items }) => items),
    remaining: Math.max(0, known - knownParked) + unknown.remaining,
    parked: knownParked + unknown.parked,
    deviation: unknown.deviation,
  };
}

/** How many items there are for each expected one, judged by what is done: statistics can be out of date. */
function correctionOf(shards: readonly ExpectedShard[]): number {
  const covered = shards.filter(({ isCovered }) => isCovered);
  const expected = sum(covered, (shard) => shard.expected - shard.expectedLeft);
  const prior = Math.max(1, TRUST * sum(covered, (shard) => shard.expected));
  return (sum(covered, ({ items }) => items) + prior) / (expected + prior);
}

/**
 * What was counted, less what is done, over all shards that the count covers: where in a span a cursor is, or a shard
 * was split, then makes no difference. If more was found than counted, the positions of the cursors have to do.
 */
function leftOfCount(shards: readonly ExpectedShard[], byPosition: number): number {
  const covered = shards.filter(({ isCovered }) => isCovered);
  const positions = sum(covered, ({ expectedLeft }) => expectedLeft);
  const counts = sum(covered, ({ expected, items }) => expected - items);
  return byPosition - positions + Math.max(counts, LEAST_LEFT * positions);
}

function sum<T>(values: readonly T[], amount: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += amount(value);
  return total;
}
