import type { Clock } from "@gossip/tso";

/** A clock that only moves forward and knows no date. Only differences mean anything. */
export interface MonotonicClock {
  nowMs(): number;
}

/** Runs something later. Tests drive it by hand. */
export interface Timers {
  /**
   * Calls `run` once after `delayMs`, unless the function that it returns is called first.
   *
   * A timer keeps the process alive, unless it is in the background.
   */
  after(delayMs: number, run: () => void, kind?: "background"): () => void;
}

/** The machine's time of day. Before 1970 it is 0: a clock saturates, it does not wrap. */
export const systemClock: Clock = {
  nowMs: () => Math.max(0, Date.now()),
};

/** Goes on while the process is stopped, but not while the machine sleeps. */
export const systemMonotonicClock: MonotonicClock = {
  nowMs: () => performance.now(),
};

export const systemTimers: Timers = {
  after(delayMs, run, kind) {
    const timer = setTimeout(run, delayMs);
    if (kind === "background") timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`. */
export function sleep(timers: Timers, delayMs: number): Promise<void> {
  return new Promise((resolve) => void timers.after(delayMs, resolve));
}
