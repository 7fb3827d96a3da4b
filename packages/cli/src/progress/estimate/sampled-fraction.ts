import type { RangeInput } from "@gossip/contracts";
import { decodeTotalsToken, keyPosition, type SampleTotal, type WeighedLeaf } from "@gossip/insight";
import { compareBytes } from "@gossip/stdx";
import type { WorkEstimate } from "@gossip/worker";
import { expectItems } from "./expected-items.ts";
import { expectShard } from "./expected-shard.ts";
import { fractionOf } from "./progress-estimator.ts";

export interface SampledItems {
  /** Items done. */
  readonly items: SampleTotal;
  /** What the source says about its items. */
  readonly estimate: WorkEstimate;
}

/** Fewer finished shards do not tell how much shards differ. */
const FEWEST_DONE = 30;
/** The standard deviation of the items of a shard over their mean, if it is not known. */
const USUAL_VARIATION = 2;

/**
 * The share of a run's items that is done, estimated from a sample of its shards: from 0 to 1, or `undefined` if too
 * little is known.
 *
 * It is, in this order: the items done of those that the source has counted; the share of what the source expects in the
 * keys that are done; else the share of the shards that is done, because large runs have shards of about equal size.
 */
export function sampledFraction(leaves: readonly WeighedLeaf[], { items, estimate }: SampledItems): number | undefined {
  if (leaves.length === 0) return undefined;
  if (expectItems(estimate.spans, wholeRange(leaves)).gaps.length > 0) return byShards(leaves);
  const counted = estimate.spans.reduce((sum, span) => sum + span.items, 0);
  const done = items.total;
  const byCount =
    estimate.isExact === true && items.error !== undefined && done <= counted
      ? fractionOf({ done, remaining: counted - done, parked: 0, deviation: items.error })
      : undefined;
  return byCount ?? byExpectation(leaves, estimate);
}

function byExpectation(leaves: readonly WeighedLeaf[], estimate: WorkEstimate): number | undefined {
  let [expected, left] = [0, 0];
  for (const leaf of leaves) {
    const shard = expectShard(workOf(leaf), estimate);
    expected += leaf.weight * shard.expected;
    left += leaf.weight * shard.expectedLeft;
  }
  return expected > 0 ? 1 - left / expected : undefined;
}

function byShards(leaves: readonly WeighedLeaf[]): number | undefined {
  let [done, remaining] = [0, 0];
  for (const { record, state, weight } of leaves) {
    const { keyRangeStart: start, keyRangeEnd: end } = record.spec;
    const { lastKey } = record.cursor;
    const share = state === "done" ? 1 : lastKey === undefined ? 0 : keyPosition({ start, end }, lastKey);
    done += weight * share;
    remaining += weight * (1 - share);
  }
  // What is left differs from the mean, and the mean of what is done is uncertain, too.
  const deviation = variationOf(leaves) * Math.hypot(Math.sqrt(remaining), remaining / Math.sqrt(Math.max(1, done)));
  return fractionOf({ done, remaining, parked: 0, deviation });
}

function variationOf(leaves: readonly WeighedLeaf[]): number {
  const done = leaves.filter(({ state }) => state === "done").map((leaf) => workOf(leaf).items);
  const mean = done.reduce((sum, items) => sum + items, 0) / done.length;
  if (done.length < FEWEST_DONE || mean === 0) return USUAL_VARIATION;
  return Math.sqrt(done.reduce((sum, items) => sum + (items - mean) ** 2, 0) / done.length) / mean;
}

function workOf({ record: { shard, spec, cursor }, state }: WeighedLeaf) {
  return {
    root: shard,
    range: { start: spec.keyRangeStart, end: spec.keyRangeEnd },
    lastKey: cursor.lastKey,
    status: state === "done" ? ("Done" as const) : ("Active" as const),
    items: decodeTotalsToken(cursor.token)?.items ?? 0,
  };
}

/** From the least key of the sampled shards to the greatest. */
function wholeRange(leaves: readonly WeighedLeaf[]): RangeInput {
  const ranges = leaves.map(({ record: { spec } }) => ({ start: spec.keyRangeStart, end: spec.keyRangeEnd }));
  return ranges.reduce((whole, { start, end }) => ({
    start: compareBytes(start, whole.start) < 0 ? start : whole.start,
    end: whole.end.length > 0 && (end.length === 0 || compareBytes(end, whole.end) > 0) ? end : whole.end,
  }));
}
