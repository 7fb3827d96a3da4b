import { performance } from "node:perf_hooks";

/** Time, waiting and chance, as the runtime has them. Given by a test, nothing sleeps on the wall clock. */
export interface WorkerTime {
  /** Milliseconds that never step back. Their zero means nothing. */
  nowMs(): number;
  /** Call `callback` once, after so many milliseconds. The answer takes that back. */
  startTimer(ms: number, callback: () => void): () => void;
  /** Let timers, sockets and other shards have their turn. */
  yieldToLoop(): Promise<void>;
  /** From 0 to 1, so that those who wait for one thing do not ask for it in step. */
  random(): number;
}

/** The machine's own. */
export const SYSTEM_TIME: WorkerTime = {
  nowMs: () => performance.now(),

  startTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },

  yieldToLoop: () => new Promise((resolve) => setImmediate(resolve)),

  random: () => Math.random(),
};

/** Wait, but no longer than until `signal` fires: the answer says whether the whole time has passed. */
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
