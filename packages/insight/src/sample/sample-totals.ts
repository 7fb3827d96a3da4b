import type { LogicalTime } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import type { LeafState } from "./axis-buckets.ts";
import { leafStateOf } from "./run-sampler.ts";
import type { SampledLeaf } from "./shard-sample.ts";

/** How many shards without children there are, by state. */
export type LeafCounts = Readonly<Record<LeafState, number>>;

/** A shard of a sample that stands for as many others that the counts by state are exact. */
export interface WeighedLeaf {
  readonly record: ShardRecord;
  readonly state: LeafState;
  readonly weight: number;
}

/** A sum over all shards, estimated from a sample of them. */
export interface SampleTotal {
  readonly total: number;
  /** The standard error. `undefined` if the sample has too few finished shards to tell. */
  readonly error: number | undefined;
}

export interface SampledRun {
  readonly leaves: readonly SampledLeaf[];
  /** Shards that are read for what they are, such as those that workers hold: a sample hardly has one of them. */
  readonly known: readonly ShardRecord[];
  readonly counts: LeafCounts;
  readonly now: LogicalTime;
}

/** Fewer shards of a state do not tell how much they differ. */
const FEWEST = 30;
const STATES = ["done", "leased", "waiting", "parked"] as const satisfies readonly LeafState[];

/**
 * Weighs a sample by the counts of the store.
 *
 * The shards of a state stand for all shards of that state. Where some of them are known for what they are, each of the
 * state counts alike, because a known shard was not chosen by chance.
 */
export function weighSample({ leaves, known, counts, now }: SampledRun): WeighedLeaf[] {
  const weighed: WeighedLeaf[] = [];
  const isKnown = new Set(known.map(({ shard }) => shard));
  const all = [
    ...leaves.filter(({ record }) => !isKnown.has(record.shard)),
    ...known.filter(({ status }) => status !== "Split").map((record) => ({ record, weight: undefined })),
  ].map((leaf) => ({ ...leaf, state: leafStateOf(leaf.record, now) }));
  for (const state of STATES) {
    const those = all.filter((leaf) => leaf.state === state);
    const areAlike = those.some(({ weight }) => weight === undefined);
    const sum = those.reduce((total, { weight }) => total + (areAlike ? 1 : weight!), 0);
    for (const { record, weight } of those)
      weighed.push({ record, state, weight: ((areAlike ? 1 : weight!) / sum) * counts[state] });
  }
  return weighed;
}

/** Estimates the sum of a value over all shards. A state without a shard in the sample counts nothing. */
export function sampleTotal(
  leaves: readonly WeighedLeaf[],
  counts: LeafCounts,
  valueOf: (record: ShardRecord) => number,
): SampleTotal {
  let [total, variance] = [0, 0];
  let isKnown = true;
  for (const state of STATES) {
    const those = leaves.filter((leaf) => leaf.state === state);
    const count = counts[state];
    if (count === 0) continue;
    const sum = those.reduce((all, { record, weight }) => all + weight * valueOf(record), 0);
    total += sum;
    if (those.length >= count) continue;
    if (those.length < FEWEST) {
      isKnown &&= state !== "done";
      continue;
    }
    const mean = sum / count;
    const squares = those.reduce((all, { record, weight }) => all + weight * (valueOf(record) - mean) ** 2, 0);
    // Shards that stand for different numbers of others tell as much as fewer that stand for the same.
    const size = count ** 2 / those.reduce((all, { weight }) => all + weight ** 2, 0);
    variance += (count * squares) / Math.max(1, size - 1);
  }
  return { total, error: isKnown ? Math.sqrt(variance) : undefined };
}
