import type { Timers } from "./timers.ts";

/**
 * Whether the time for something is up, for those who wait for it.
 *
 * An `AbortSignal` would do. But every request has one, and a signal takes a twelfth of all that a small request costs this process.
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

  /** Call `stop` when the time is up, unless the function that it returns is called first. */
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
