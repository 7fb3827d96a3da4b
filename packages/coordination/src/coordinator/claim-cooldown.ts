import { LogicalTime, type WorkerId } from "@gossip/contracts";

/**
 * Keeps a worker from claiming too often: after a successful claim it must wait.
 *
 * Counts per worker, across tenants and runs, in this coordinator only. A claim in flight counts as successful.
 * Otherwise simultaneous claims would all pass. An interval of zero lets every claim through.
 */
export class ClaimCooldown {
  readonly #interval: bigint;
  readonly #lastClaims = new Map<WorkerId, LogicalTime>();
  readonly #underWay = new Map<WorkerId, LogicalTime>();
  #sweepAt = 64;

  constructor(interval: bigint) {
    this.#interval = interval;
  }

  /** Begins a claim, which `end` ends. If the worker must wait, returns until when and begins nothing. */
  begin(worker: WorkerId, now: LogicalTime): LogicalTime | undefined {
    if (this.#interval === 0n) return undefined;
    const until = this.#heldUntil(worker, now);
    if (until === undefined) this.#underWay.set(worker, now);
    return until;
  }

  /** Ends a claim that began at `now`. */
  end(worker: WorkerId, now: LogicalTime, { hasClaimed }: { readonly hasClaimed: boolean }): void {
    if (this.#interval === 0n) return;
    // If this claim took longer than the interval, a later one may have begun.
    if (this.#underWay.get(worker) === now) this.#underWay.delete(worker);
    if (!hasClaimed || now <= (this.#lastClaims.get(worker) ?? 0n)) return;
    this.#lastClaims.set(worker, now);
    if (this.#lastClaims.size >= this.#sweepAt) this.#sweep(now);
  }

  /** Number of workers that are remembered. */
  get size(): number {
    return this.#lastClaims.size + this.#underWay.size;
  }

  #heldUntil(worker: WorkerId, now: LogicalTime): LogicalTime | undefined {
    const last = this.#lastClaims.get(worker) ?? LogicalTime.ZERO;
    const begun = this.#underWay.get(worker) ?? LogicalTime.ZERO;
    const latest = last > begun ? last : begun;
    if (latest === 0n) return undefined;
    const over = LogicalTime.saturatingAdd(latest, this.#interval);
    return now < over ? over : undefined;
  }

  // Expired entries are removed whenever the map has doubled in size, so each is visited only a few times.
  #sweep(now: LogicalTime): void {
    for (const worker of this.#lastClaims.keys()) {
      if (this.#heldUntil(worker, now) === undefined) this.#lastClaims.delete(worker);
    }
    this.#sweepAt = Math.max(64, 2 * this.#lastClaims.size);
  }
}
