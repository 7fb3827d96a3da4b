import { assert } from "@gossip/stdx";
import type { Clock } from "@gossip/tso";
import type { MonotonicClock } from "../time/system-time.ts";

/** A reading that was not used, and what was used instead. */
export interface ClockRefusal {
  readonly readingMs: number;
  readonly usedMs: number;
}

export interface ClockGuardOptions {
  readonly clock: Clock;
  readonly monotonicClock: MonotonicClock;
  /** Longest step forward, beyond the time that has really passed, that a reading may make. */
  readonly maxForwardStepMs: number;
  /** Called for every refused reading; `isNews` is true if it should be logged. */
  readonly onRefusal: (refusal: ClockRefusal, isNews: boolean) => void;
}

/** A clock that stays wrong is reported when it goes wrong, and then this often. */
const REPORT_EVERY_MS = 60_000;

/**
 * The clock, without its leaps into the future.
 *
 * A far-future reading would be made durable and could never be taken back: every later timestamp would
 * stay above it. So a reading is compared with the greatest one so far plus the time that has passed since on
 * the monotonic clock; one that is too far above is refused, and that sum used in its place. Steps back are
 * let through: the allocator ignores them. The first reading has nothing to be compared with and is believed: where the clock
 * was put right by more than the longest step, a restart makes the oracle follow it.
 */
export class ClockGuard {
  readonly #options: ClockGuardOptions;
  #anchorMs: number | undefined;
  #anchoredAtMs = 0;
  #highestMs = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClockGuardOptions) {
    assert(options.maxForwardStepMs > 0, "the longest forward step of the clock is positive");
    this.#options = options;
  }

  /** The greatest value that `sample` has returned. */
  get highestMs(): number {
    return this.#highestMs;
  }

  sample(): number {
    const sampledMs = this.#sample();
    if (sampledMs > this.#highestMs) this.#highestMs = sampledMs;
    return sampledMs;
  }

  #sample(): number {
    const { clock, monotonicClock, maxForwardStepMs } = this.#options;
    const readingMs = clock.nowMs();
    const atMs = monotonicClock.nowMs();
    const isWhole = Number.isSafeInteger(readingMs) && readingMs >= 0;
    if (this.#anchorMs === undefined) {
      assert(isWhole, "the first clock reading is a whole number of milliseconds since 1970");
      this.#anchor(readingMs, atMs);
      return readingMs;
    }
    const expectedMs = Math.floor(this.#anchorMs + (atMs - this.#anchoredAtMs));
    if (!isWhole || readingMs > expectedMs + maxForwardStepMs) {
      this.#refuse({ readingMs, usedMs: expectedMs }, atMs);
      return expectedMs;
    }
    this.#reportedAtMs = Number.NEGATIVE_INFINITY;
    if (readingMs > expectedMs) this.#anchor(readingMs, atMs);
    return readingMs;
  }

  #refuse(refusal: ClockRefusal, atMs: number): void {
    const isDue = atMs - this.#reportedAtMs >= REPORT_EVERY_MS;
    if (isDue) this.#reportedAtMs = atMs;
    this.#options.onRefusal(refusal, isDue);
  }

  #anchor(readingMs: number, atMs: number): void {
    this.#anchorMs = readingMs;
    this.#anchoredAtMs = atMs;
  }
}
