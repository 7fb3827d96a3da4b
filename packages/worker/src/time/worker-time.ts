import { performance } from "node:perf_hooks";

/** Time, waiting and randomness for the runtime. Tests replace it, so that nothing sleeps on the wall clock. */
export interface WorkerTime {
  /** A monotonic time in milliseconds with an arbitrary origin. */
  nowMs(): number;
  /** Call `callback` once after `ms` milliseconds. Returns a function that cancels it. */
  startTimer(ms: number, callback: () => void): () => void;
  /** Let timers, sockets and other shards run. */
  yieldToLoop(): Promise<void>;
  /** From 0 to 1, so that workers that wait for the same thing do not poll in step. */
  random(): number;
}

/** The real time of this machine. */
export const SYSTEM_TIME: WorkerTime = {
  nowMs: () => performance.now(),

  startTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },

  yieldToLoop: () => new Promise((resolve) => setImmediate(resolve)),

  random: () => Math.random(),
};

/** Wait until the time is over or `signal` fires. Resolves to whether the whole time has passed. */
export function sleep(time: WorkerTime, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = time.startTimer(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve(true);
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
