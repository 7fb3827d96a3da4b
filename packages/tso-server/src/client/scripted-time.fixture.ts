// Time for clients on real sockets: pauses are over at once and are counted as passed, while budgets, which are
// longer, run out only when a test says so. So nothing waits on the wall clock, and nothing times out by accident.
import type { MonotonicClock, Timers } from "../time/system-time.ts";

/** Shorter timers are pauses, longer ones budgets. */
const LONGEST_PAUSE_MS = 500;

export class ScriptedTime {
  readonly monotonicClock: MonotonicClock = { nowMs: () => this.#nowMs };
  readonly timers: Timers = { after: (delayMs, run) => this.#after(delayMs, run) };
  readonly pausesMs: number[] = [];
  #nowMs = 0;
  #budgets = new Map<() => void, number>();

  /** Let time pass, and the budgets in it run out. */
  elapse(byMs: number): void {
    this.#nowMs += byMs;
    for (const [run, atMs] of this.#budgets) {
      if (atMs > this.#nowMs) continue;
      this.#budgets.delete(run);
      run();
    }
  }

  get openBudgets(): number {
    return this.#budgets.size;
  }

  #after(delayMs: number, run: () => void): () => void {
    if (delayMs > LONGEST_PAUSE_MS) {
      this.#budgets.set(run, this.#nowMs + delayMs);
      return () => this.#budgets.delete(run);
    }
    this.pausesMs.push(delayMs);
    const immediate = setImmediate(() => {
      this.#nowMs += delayMs;
      run();
    });
    return () => clearImmediate(immediate);
  }
}
