/** Runs something later. Tests drive it by hand. */
export interface Timers {
  /** Calls `run` once after `delayMs`, unless the function that it returns is called first. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
