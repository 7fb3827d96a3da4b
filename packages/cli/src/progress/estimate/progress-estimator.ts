import type { WorkLeft } from "./estimate-work.ts";
import { Pace } from "./pace.ts";

/** The figures of a progress display. `undefined`: not known. */
export interface ProgressFigures {
  /** From 0 to 1. It never decreases. */
  readonly fraction: number | undefined;
  readonly perSecond: number | undefined;
  readonly remainingMs: number | undefined;
}

export interface ProgressSample {
  readonly atMs: number;
  /** Items that are stored as done. */
  readonly items: number;
  /** Items of this process that are done and not stored yet. */
  readonly unstored: number;
  readonly left: WorkLeft | undefined;
}

/** What this process has done since the last sample from the store. */
export interface OwnSample extends Pick<ProgressSample, "atMs" | "left"> {
  /** Negative if items that were done at that sample were lost with their shard. */
  readonly itemsSince: number;
}

/** A fraction is shown only if the standard deviation of the whole work is not a larger share of it. */
const MAX_DEVIATION = 0.05;
/** Before the last shard is complete, the work is not. */
const ALMOST = 0.999;

/** Turns what is known about the work into the figures of a display. Has no clock: each sample has its time. */
export class ProgressEstimator {
  readonly #pace = new Pace();
  #fraction: number | undefined;
  /** The last sample, and the last that was read from the store. */
  #last: ProgressSample | undefined;
  #looked: ProgressSample | undefined;

  add(sample: ProgressSample): ProgressFigures {
    this.#looked = sample;
    return this.#figures(sample);
  }

  #figures(sample: ProgressSample): ProgressFigures {
    const { atMs, items, unstored, left } = sample;
    this.#last = sample;
    this.#pace.add({ atMs, items: items + unstored });
    const fraction = fractionOf(left, unstored);
    if (fraction !== undefined) this.#fraction = Math.max(this.#fraction ?? 0, Math.min(ALMOST, fraction));
    // An uncertain amount of work has no predictable end either.
    const remainingMs =
      fraction === undefined ? undefined : this.#pace.timeFor(Math.max(0, left!.remaining - unstored));
    return { fraction: this.#fraction, perSecond: this.#pace.perSecond, remainingMs };
  }

  /**
   * The figures at a time between two looks at the store: by what this process has done since the last one, and by what
   * was left at that look, of which more may be known now.
   */
  addOwn({ atMs, itemsSince, left }: OwnSample): ProgressFigures {
    const looked = this.#looked;
    if (looked === undefined) return { fraction: undefined, perSecond: undefined, remainingMs: undefined };
    return this.#figures({ ...looked, atMs, left, unstored: Math.max(0, looked.unstored + itemsSince) });
  }

  /** The figures at a time without news, such as during an outage: the rate falls, and the end is not known. */
  addSilence(atMs: number): ProgressFigures {
    if (this.#last === undefined) return { fraction: undefined, perSecond: undefined, remainingMs: undefined };
    const { perSecond } = this.#figures({ ...this.#last, atMs });
    return { fraction: this.#fraction, perSecond, remainingMs: undefined };
  }
}

/** The share of the work that is done, if it is known well enough. */
export function fractionOf(left: WorkLeft | undefined, unstored = 0): number | undefined {
  if (left === undefined) return undefined;
  const { done, remaining, parked, deviation } = left;
  const total = done + remaining + parked;
  if (total <= 0) return undefined;
  return deviation / total <= MAX_DEVIATION ? (done + Math.min(unstored, remaining)) / total : undefined;
}
