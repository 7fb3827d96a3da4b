import type { RangeInput, ShardId } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import type { ExpectedShard } from "./expected-shard.ts";
import { keyPosition } from "@gossip/insight";

export interface UnknownLeft {
  readonly remaining: number;
  readonly parked: number;
  readonly deviation: number;
}

/** An initial shard with its descendants. */
interface Family {
  /** Items done and expected. */
  readonly seen: number;
  /** The shares of its key range that are left and that the source knows nothing about. */
  readonly remaining: number;
  readonly parked: number;
}

/** With fewer known families, their mean says too little about the others. */
const FEWEST_KNOWN = 4;
/** A family with less unknown than this counts as known. */
const LITTLE = 0.02;
/** A family that is known to this extent tells something about its size. */
const SOME = 0.1;
/** Families that look alike may still differ by so much. */
const LEAST_DEVIATION = 0.25;

/**
 * Estimate what is left where the source knows nothing: as much as in the mean family, by the share of its keys.
 *
 * Small families are done first. So the mean includes families in work, by what was found in them so far; and if they
 * contradict the others, the deviation says so. Returns `undefined` if there is too little to go by.
 */
export function unknownLeft(shards: readonly ExpectedShard[], correction: number): UnknownLeft | undefined {
  if (shards.every(({ gaps }) => gaps.length === 0)) return { remaining: 0, parked: 0, deviation: 0 };
  const families = familiesOf(shards).map((family) => measure(family, correction));
  const knownCount = families.filter((family) => unknownShare(family) <= LITTLE).length;
  if (knownCount < FEWEST_KNOWN) return undefined;
  const seen = families.filter((family) => unknownShare(family) <= 1 - SOME);
  const { mean, deviation } = describe(seen.map((family) => family.seen / (1 - unknownShare(family))));
  let [remaining, parked, squares] = [0, 0, 0];
  for (const family of families) {
    remaining += family.remaining * mean;
    parked += family.parked * mean;
    squares += (unknownShare(family) * deviation) ** 2;
  }
  // The mean itself is uncertain too.
  const ofMean =
    families.reduce((shares, family) => shares + unknownShare(family), 0) * (deviation / Math.sqrt(knownCount));
  return { remaining, parked, deviation: Math.hypot(Math.sqrt(squares), ofMean) };
}

function familiesOf(shards: readonly ExpectedShard[]): (readonly ExpectedShard[])[] {
  const families = new Map<ShardId, ExpectedShard[]>();
  for (const shard of shards) {
    const family = families.get(shard.root);
    if (family === undefined) families.set(shard.root, [shard]);
    else family.push(shard);
  }
  return [...families.values()];
}

function measure(shards: readonly ExpectedShard[], correction: number): Family {
  const range = wholeRange(shards);
  let [seen, remaining, parked] = [0, 0, 0];
  for (const { items, expectedLeft, status, gaps } of shards) {
    seen += items + expectedLeft * correction;
    const unknown = gaps.reduce((share, gap) => share + shareOf(range, gap), 0);
    if (status === "Parked") parked += unknown;
    else remaining += unknown;
  }
  return { seen, remaining, parked };
}

function unknownShare({ remaining, parked }: Family): number {
  return Math.min(1, remaining + parked);
}

function shareOf(range: RangeInput, { start, end }: RangeInput): number {
  return Math.max(0, (end.length === 0 ? 1 : keyPosition(range, end)) - keyPosition(range, start));
}

function wholeRange(shards: readonly ExpectedShard[]): RangeInput {
  const [first, ...others] = shards.map(({ range }) => range);
  let { start, end } = first!;
  for (const range of others) {
    if (compareBytes(range.start, start) < 0) start = range.start;
    if (end.length > 0 && (range.end.length === 0 || compareBytes(range.end, end) > 0)) end = range.end;
  }
  return { start, end };
}

function describe(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return { mean, deviation: Math.max(mean * LEAST_DEVIATION, Math.sqrt(squares / (values.length - 1))) };
}
