import type { Timers } from "@gossip/etcd-client";
import type { Clock } from "@gossip/tso";

export { systemTimers, type Timers } from "@gossip/etcd-client";

/** A clock that only moves forward and knows no date. Only differences mean anything. */
export interface MonotonicClock {
  nowMs(): number;
}

/** The machine's time of day. Before 1970 it is 0: a clock saturates, it does not wrap. */
export const systemWallClock: Clock = {
  nowMs: () => Math.max(0, Date.now()),
};

/** Goes on while the process is stopped, but not while the machine sleeps. */
export const systemMonotonicClock: MonotonicClock = {
  nowMs: () => performance.now(),
};

/** Resolves after `delayMs`. */
export function sleep(timers: Timers, delayMs: number): Promise<void> {
  return new Promise((resolve) => void timers.after(delayMs, resolve));
}
