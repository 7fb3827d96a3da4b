/** Runs something later. Tests drive it by hand. */
export interface Timers {
  /**
   * Calls `run` once after `delayMs`, unless the function that it returns is called first.
   *
   * A timer keeps the process alive, unless it is in the background.
   */
  after(delayMs: number, run: () => void, kind?: "background"): () => void;
}

export const systemTimers: Timers = {
  after(delayMs, run, kind) {
    const timer = setTimeout(run, delayMs);
    if (kind === "background") timer.unref();
    return () => clearTimeout(timer);
  },
};
