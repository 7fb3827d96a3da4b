import type { EtcdClient } from "@gossip/etcd-client";
import type { MonotonicClock, Timers } from "../time/system-time.ts";

/** The part of a lease's time that is given up, for clocks that do not run alike. */
const SAFETY_PART = 0.15;

/** How often a lease is renewed in the time it has, and how much sooner after a failure. */
const RENEWALS_PER_TTL = 4;
const RETRIES_PER_TTL = 12;

export interface LeaseKeeperOptions {
  readonly client: Pick<EtcdClient, "keepLeaseAlive">;
  readonly monotonicClock: MonotonicClock;
  readonly timers: Timers;
  readonly leaseId: bigint;
  readonly ttlS: number;
  /** When the lease was asked for: etcd counts its time from later on. */
  readonly askedAtMs: number;
  /** Called once, when the lease is known to be no more. */
  readonly onLost: () => void;
}

/**
 * Renews a lease and knows how long it surely lasts.
 *
 * etcd counts a lease's time from when it handles a renewal, which is after the renewal was sent: so until the time of
 * sending plus the lease's time, less a margin, no other node can hold what the lease protects. A renewal that fails moves nothing.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #untilMs: number;
  #isStopped = false;
  #cancelTimer: () => void = () => {};

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#untilMs = options.askedAtMs + sureMs(options.ttlS);
    this.#renewIn(this.#everyMs(RENEWALS_PER_TTL));
  }

  /** On the monotonic clock. In the past once the lease is lost or was given up. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** Renew no more, and rely on nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    this.#cancelTimer();
  }

  #everyMs(timesPerTtl: number): number {
    return (this.#options.ttlS * 1000) / timesPerTtl;
  }

  #renewIn(delayMs: number): void {
    this.#cancelTimer = this.#options.timers.after(delayMs, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { client, leaseId, monotonicClock, onLost } = this.#options;
    const sentAtMs = monotonicClock.nowMs();
    const renewed = await client.keepLeaseAlive(leaseId, this.#everyMs(RENEWALS_PER_TTL));
    if (this.#isStopped) return;
    if (!renewed.ok) {
      this.#renewIn(this.#everyMs(RETRIES_PER_TTL));
    } else if (renewed.value.ttlS > 0) {
      this.#untilMs = Math.max(this.#untilMs, sentAtMs + sureMs(renewed.value.ttlS));
      this.#renewIn(this.#everyMs(RENEWALS_PER_TTL));
    } else {
      this.stop();
      onLost();
    }
  }
}

function sureMs(ttlS: number): number {
  return ttlS * 1000 * (1 - SAFETY_PART);
}
