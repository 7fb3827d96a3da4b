import type { WorkerTime } from "../time/worker-time.ts";

export interface OutageListener {
  onStart(): void;
  onEnd(ms: number): void;
}

/** Tracks how long something that all shards of this process need has been unavailable. */
export class Outage {
  readonly #time: WorkerTime;
  readonly #listener: OutageListener;
  #sinceMs: number | undefined;
  #workedMs = -Infinity;

  constructor(time: WorkerTime, listener: OutageListener) {
    this.#time = time;
    this.#listener = listener;
  }

  /** How long it has been unavailable. `undefined` if it was available the last time that it was used. */
  get ms(): number | undefined {
    return this.#sinceMs === undefined ? undefined : this.#time.nowMs() - this.#sinceMs;
  }

  /** It was used and failed. Returns how long it has been unavailable. */
  failed(): number {
    const nowMs = this.#time.nowMs();
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs;
      this.#listener.onStart();
    }
    return nowMs - this.#sinceMs;
  }

  /** It was used and worked. */
  worked(): void {
    this.#workedMs = this.#time.nowMs();
    const { ms } = this;
    if (ms === undefined) return;
    this.#sinceMs = undefined;
    this.#listener.onEnd(ms);
  }

  /** Whether it has worked, for any shard, after the given time. */
  hasWorkedSince(ms: number): boolean {
    return this.#workedMs > ms;
  }
}
