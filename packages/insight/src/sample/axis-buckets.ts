/** What a shard without children is. */
export type LeafState = "done" | "leased" | "waiting" | "parked";

/** In order of precedence: a bucket that several states share shows the one that may need attention. */
const FILLS = ["-", "d", "w", "l", "p"] as const;
const FILL_OF: Readonly<Record<LeafState, number>> = { done: 1, waiting: 2, leased: 3, parked: 4 };

/** Buckets that shards are counted in: four for each of the 1,500 that a page may ask for. */
export const AXIS_BUCKETS = 6000;

/** A part of the axis in buckets, as a page draws it. */
export interface BucketView {
  readonly count: number;
  /** Shards that begin in each bucket, by state. */
  readonly done: readonly number[];
  readonly leased: readonly number[];
  readonly waiting: readonly number[];
  readonly parked: readonly number[];
  /** Cursors in each bucket. */
  readonly cursors: readonly number[];
  /** One letter for each bucket, for the state that covers it: `d`, `l`, `w`, `p`, or `-` where there are no keys. */
  readonly fill: string;
}

/** Shards of a run counted by position and state. The size does not depend on the number of shards. */
export class AxisBuckets {
  readonly #counts: Readonly<Record<LeafState, Uint32Array>> = {
    done: new Uint32Array(AXIS_BUCKETS),
    leased: new Uint32Array(AXIS_BUCKETS),
    waiting: new Uint32Array(AXIS_BUCKETS),
    parked: new Uint32Array(AXIS_BUCKETS),
  };
  readonly #cursors = new Uint32Array(AXIS_BUCKETS);
  readonly #fill = new Uint8Array(AXIS_BUCKETS);

  /** Add a shard that covers `from` to `to` and is done up to `cursor`, or `count` shards in one state. */
  add(
    state: LeafState,
    {
      from,
      to,
      cursor,
      count = 1,
    }: { readonly from: number; readonly to: number; readonly cursor?: number; readonly count?: number },
  ) {
    this.#counts[state][bucketOf(from)]! += count;
    if (cursor === undefined || state === "done") return this.#cover(from, to, FILL_OF[state]);
    this.#cursors[bucketOf(cursor)]!++;
    this.#cover(from, cursor, FILL_OF.done);
    this.#cover(cursor, to, FILL_OF[state]);
  }

  /** How many shards begin between two positions. */
  countIn(from: number, to: number): number {
    let count = 0;
    for (const counts of Object.values(this.#counts))
      for (let bucket = bucketOf(from); bucket <= lastBucketOf(to); bucket++) count += counts[bucket]!;
    return count;
  }

  /**
   * A position at or below the start of the shard that covers `position`: shards tile the keys, so that shard is the
   * last that begins there or before.
   */
  startBefore(position: number): number {
    for (let bucket = bucketOf(position); bucket > 0; bucket--)
      // One bucket less than needed, because positions are rounded.
      for (const counts of Object.values(this.#counts)) if (counts[bucket]! > 0) return (bucket - 1) / AXIS_BUCKETS;
    return 0;
  }

  /**
   * A position at or below the first shard in a state that begins at `position` or above it in a later bucket.
   * `undefined` if there is none.
   */
  nextOf(state: LeafState, position: number): number | undefined {
    for (let bucket = bucketOf(position); bucket < AXIS_BUCKETS; bucket++)
      // One bucket less than needed, because positions are rounded.
      if (this.#counts[state][bucket]! > 0) return Math.max(position, (bucket - 1) / AXIS_BUCKETS);
    return undefined;
  }

  /** The buckets between two positions, joined to `count`. */
  view({ from, to, count }: { readonly from: number; readonly to: number; readonly count: number }): BucketView {
    const bounds = Array.from({ length: count + 1 }, (_, index) => from + (index * (to - from)) / count);
    const sum = (counts: Uint32Array): number[] => {
      const sums = Array.from({ length: count }, () => 0);
      // Each bucket is part of exactly one of the joined ones, so that sums are exact.
      for (let bucket = bucketOf(from); bucket <= lastBucketOf(to); bucket++) {
        const middle = (bucket + 0.5) / AXIS_BUCKETS;
        const index = Math.floor(((middle - from) / (to - from)) * count);
        sums[Math.min(count - 1, Math.max(0, index))]! += counts[bucket]!;
      }
      return sums;
    };
    const { done, leased, waiting, parked } = this.#counts;
    const fill = bounds.slice(0, -1).map((bound, index) => this.#fillOf(bound, bounds[index + 1]!));
    return {
      count,
      done: sum(done),
      leased: sum(leased),
      waiting: sum(waiting),
      parked: sum(parked),
      cursors: sum(this.#cursors),
      fill: fill.join(""),
    };
  }

  #fillOf(from: number, to: number): string {
    let fill = 0;
    for (let bucket = bucketOf(from); bucket <= lastBucketOf(to); bucket++) fill = Math.max(fill, this.#fill[bucket]!);
    return FILLS[fill]!;
  }

  #cover(from: number, to: number, fill: number): void {
    for (let bucket = bucketOf(from); bucket <= lastBucketOf(to); bucket++)
      if (this.#fill[bucket]! < fill) this.#fill[bucket] = fill;
  }
}

function bucketOf(position: number): number {
  return Math.min(AXIS_BUCKETS - 1, Math.max(0, Math.floor(position * AXIS_BUCKETS)));
}

/** The last bucket below an end. A range that ends where a bucket begins does not touch that bucket. */
function lastBucketOf(end: number): number {
  return Math.min(AXIS_BUCKETS - 1, Math.max(0, Math.ceil(end * AXIS_BUCKETS - 1e-9) - 1));
}
