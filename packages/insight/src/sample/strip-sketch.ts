import type { LogicalTime } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import type { KeyAxis } from "../axis/key-axis.ts";
import { AxisBuckets } from "./axis-buckets.ts";
import { leafStateOf } from "./run-sampler.ts";

/** Items of an order at equal distances, at least half of `most` if there are so many. The order's length need not be known. */
export class EvenSample<T> {
  readonly #most: number;
  #kept: T[] = [];
  #every = 1;
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many items were added. */
  get seen(): number {
    return this.#seen;
  }

  get items(): readonly T[] {
    return this.#kept;
  }

  add(item: T): void {
    if (this.#seen++ % this.#every !== 0) return;
    this.#kept.push(item);
    if (this.#kept.length <= this.#most) return;
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }
}

/**
 * Estimates the buckets of a run with very many shards from a sample of them, for as long as they are being counted.
 *
 * Each shard of the sample stands for those up to the next one: for their number, and for their state.
 */
export class StripSketch {
  readonly buckets = new AxisBuckets();
  readonly #axis: KeyAxis;
  /** Shards that each of the sample stands for. */
  readonly #weight: number;
  #sampled = 0;
  #last: { readonly record: ShardRecord; readonly from: number; readonly now: LogicalTime } | undefined;

  constructor({
    axis,
    leafCount,
    sampleCount,
  }: {
    readonly axis: KeyAxis;
    /** Shards without children that the run has. */
    readonly leafCount: number;
    readonly sampleCount: number;
  }) {
    this.#axis = axis;
    this.#weight = leafCount / Math.max(1, sampleCount);
  }

  /** Add a shard without children to the sample. Shards must come in key order. */
  add(record: ShardRecord, now: LogicalTime): void {
    const from = this.#axis.position(record.spec.keyRangeStart);
    this.#close(from);
    this.#last = { record, from: this.#last === undefined ? 0 : from, now };
  }

  /** Add a shard that is known to be held: of a million shards a sample has hardly one that is. */
  addHeld(record: ShardRecord, now: LogicalTime): void {
    const state = leafStateOf(record, now);
    if (record.status === "Split" || state !== "leased") return;
    const from = this.#axis.position(record.spec.keyRangeStart);
    const to = Math.max(from, this.#axis.endPosition(record.spec.keyRangeEnd));
    this.buckets.add(state, { from, to });
  }

  /** End the sample. */
  end(): void {
    this.#close(1);
    this.#last = undefined;
  }

  #close(to: number): void {
    if (this.#last === undefined) return;
    const { record, from, now } = this.#last;
    // Rounded so that the sum is right.
    const count = Math.round((this.#sampled + 1) * this.#weight) - Math.round(this.#sampled * this.#weight);
    this.#sampled++;
    this.buckets.add(leafStateOf(record, now), { from, to: Math.max(from, to), count });
  }
}
