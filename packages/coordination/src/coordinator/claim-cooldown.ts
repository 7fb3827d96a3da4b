import { LogicalTime, type WorkerId } from "@gossip/contracts";

/**
 * Keeps a worker from claiming too often: after a claim that succeeded it must wait.
 *
 * Per worker, whatever tenant or run it claims from, and known to this coordinator alone. An
 * interval of zero lets everything through.
 */
export class ClaimCooldown {
  readonly #interval: bigint;
  readonly #lastClaims = new Map<WorkerId, LogicalTime>();
  #sweepAt = 64;

  constructor(interval: bigint) {
    this.#interval = interval;
  }

  /** When the worker may claim again; `undefined` where it may now. */
  retryAfter(worker: WorkerId, now: LogicalTime): LogicalTime | undefined {
    const last = this.#lastClaims.get(worker);
    if (last === undefined) return undefined;
    const over = LogicalTime.saturatingAdd(last, this.#interval);
    return now < over ? over : undefined;
  }

  noteClaim(worker: WorkerId, now: LogicalTime): void {
    if (this.#interval === 0n) return;
    this.#lastClaims.set(worker, now);
    if (this.#lastClaims.size >= this.#sweepAt) this.#sweep(now);
  }

  /** Workers that are remembered. */
  get size(): number {
    return this.#lastClaims.size;
  }

  // Entries that no longer hold anybody back go once the map has doubled since, so each is looked at a few times in its life.
  #sweep(now: LogicalTime): void {
    for (const worker of this.#lastClaims.keys()) {
      if (this.retryAfter(worker, now) === undefined) this.#lastClaims.delete(worker);
    }
    this.#sweepAt = Math.max(64, 2 * this.#lastClaims.size);
  }
}
