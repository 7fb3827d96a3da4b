import { LogicalTime, type WorkerId } from "@gossip/contracts";

/**
 * Keeps a worker from claiming too often: after a claim that succeeded it must wait.
 *
 * Per worker, whatever tenant or run it claims from, and known to this coordinator alone. A claim
 * that is under way counts as if it had succeeded, or claims made at once would all pass. An
 * interval of zero lets everything through.
 */
export class ClaimCooldown {
  readonly #interval: bigint;
  readonly #lastClaims = new Map<WorkerId, LogicalTime>();
  readonly #underWay = new Map<WorkerId, LogicalTime>();
  #sweepAt = 64;

  constructor(interval: bigint) {
    this.#interval = interval;
  }

  /** Begin a claim, to be ended with `end`. Where the worker must wait, the answer is until when, and nothing has begun. */
  begin(worker: WorkerId, now: LogicalTime): LogicalTime | undefined {
    if (this.#interval === 0n) return undefined;
    const until = this.#heldUntil(worker, now);
    if (until === undefined) this.#underWay.set(worker, now);
    return until;
  }

  /** End a claim that was begun at `now`. */
  end(worker: WorkerId, now: LogicalTime, { hasClaimed }: { readonly hasClaimed: boolean }): void {
    if (this.#interval === 0n) return;
    // A later one may have begun where this one took longer than the interval.
    if (this.#underWay.get(worker) === now) this.#underWay.delete(worker);
    if (!hasClaimed || now <= (this.#lastClaims.get(worker) ?? 0n)) return;
    this.#lastClaims.set(worker, now);
    if (this.#lastClaims.size >= this.#sweepAt) this.#sweep(now);
  }

  /** Workers that are remembered. */
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

  // Entries that no longer hold anybody back go once the map has doubled since, so each is looked at a few times in its life.
  #sweep(now: LogicalTime): void {
    for (const worker of this.#lastClaims.keys()) {
      if (this.#heldUntil(worker, now) === undefined) this.#lastClaims.delete(worker);
    }
    this.#sweepAt = Math.max(64, 2 * this.#lastClaims.size);
  }
}
