import { assert } from "@gossip/stdx";
import type { Clock } from "@gossip/tso";
import type { MonotonicClock, Timers } from "../time/system-time.ts";

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * Time that stands still until a test moves it: a wall clock, a monotonic clock and timers.
 *
 * `advance` moves all three together, as an hour passes; `stepClock` moves the wall clock alone, as an
 * operator or a time server does.
 */
export class ManualTime {
  readonly clock: Clock = { nowMs: () => this.#wallMs };
  readonly monotonicClock: MonotonicClock = { nowMs: () => this.#monotonicMs };
  readonly timers: Timers = { after: (delayMs, run) => this.#after(delayMs, run) };
  #wallMs: number;
  #monotonicMs = 0;
  #due: Due[] = [];

  constructor(startMs: number) {
    assert(Number.isFinite(startMs), "time starts at a number of milliseconds");
    this.#wallMs = startMs;
  }

  stepClock(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Let `byMs` pass: timers run in the order they are due, and what they wake gets its turn before the next. */
  async advance(byMs: number): Promise<void> {
    assert(byMs >= 0, "time does not run backward");
    const endMs = this.#monotonicMs + byMs;
    await turnEventLoop();
    for (;;) {
      const next = this.#due.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#due = this.#due.filter((due) => due !== next);
      this.#moveTo(Math.max(next.atMs, this.#monotonicMs));
      next.run();
      await turnEventLoop();
    }
    this.#moveTo(endMs);
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #after(delayMs: number, run: () => void): () => void {
    const due = { atMs: this.#monotonicMs + Math.max(0, delayMs), run };
    this.#due.push(due);
    return () => {
      this.#due = this.#due.filter((other) => other !== due);
    };
  }
}

/** Let everything that is ready run: promises, immediates, and what these make ready. */
export async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}
