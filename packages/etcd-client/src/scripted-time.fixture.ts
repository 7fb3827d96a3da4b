import type { Timers } from "./timers.ts";

/** Timers that run out when a test says so, and never by accident. */
export class ScriptedTime {
  readonly timers: Timers = { after: (delayMs, run) => this.#after(delayMs, run) };
  readonly #due = new Map<() => void, number>();
  #nowMs = 0;

  /** Let time pass. */
  elapse(byMs: number): void {
    this.#nowMs += byMs;
    for (const [run, atMs] of this.#due) {
      if (atMs > this.#nowMs) continue;
      this.#due.delete(run);
      run();
    }
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#due.size;
  }

  #after(delayMs: number, run: () => void): () => void {
    this.#due.set(run, this.#nowMs + delayMs);
    return () => void this.#due.delete(run);
  }
}
