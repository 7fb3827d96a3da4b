import type { Timers } from "./timers.ts";

/**
 * A deadline that several steps of a request share.
 *
 * Used instead of an `AbortSignal`, which would take a twelfth of the cost of a small request.
 */
export class Overdue {
  isUp = false;
  readonly #cancelTimer: () => void;
  #stops: (() => void)[] = [];

  constructor(timers: Timers, afterMs: number) {
    this.#cancelTimer = timers.after(afterMs, () => {
      this.isUp = true;
      const stops = this.#stops;
      this.#stops = [];
      for (const stop of stops) stop();
    });
  }

  /** Calls `stop` at the deadline, unless the returned function is called first. */
  whenUp(stop: () => void): () => void {
    this.#stops.push(stop);
    return () => {
      this.#stops = this.#stops.filter((other) => other !== stop);
    };
  }

  /** All is done, in time or not. */
  cancel(): void {
    this.#cancelTimer();
  }
}
