import type { WorkerTime } from "../time/worker-time.ts";

export interface TickerOptions {
  readonly time: WorkerTime;
  readonly everyMs: number;
  /** How late a tick must be for the loop to count as blocked. */
  readonly blockedMs: number;
  readonly onTick: (nowMs: number) => void;
  readonly onBlocked: (ms: number) => void;
}

/** Calls `onTick` periodically, and `onBlocked` if the event loop delayed it. Returns a function that stops it. */
export function startTicker({ time, everyMs, blockedMs, onTick, onBlocked }: TickerOptions): () => void {
  let lastMs = time.nowMs();
  let cancel: () => void;
  const tick = (): void => {
    const nowMs = time.nowMs();
    const lateMs = nowMs - lastMs - everyMs;
    lastMs = nowMs;
    cancel = time.startTimer(everyMs, tick);
    if (lateMs >= blockedMs) onBlocked(lateMs);
    onTick(nowMs);
  };
  cancel = time.startTimer(everyMs, tick);
  return () => cancel();
}
