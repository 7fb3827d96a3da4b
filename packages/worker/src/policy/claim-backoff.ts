/** The shortest wait after a claim that found nothing. */
const FIRST_WAIT_MS = 20;
/** The longest wait. A shard freed by another process is found within this time. */
const MAX_WAIT_MS = 500;

/**
 * How long workers wait after a claim that found nothing: twice as long each time, but no longer than until the first
 * known lease expires.
 */
export class ClaimBackoff {
  #misses = 0;

  /** A shard was claimed, or is about to become claimable. */
  reset(): void {
    this.#misses = 0;
  }

  /** `untilFreeMs` is the time until the first lease expires; `random` is from 0 to 1. */
  nextWaitMs({ untilFreeMs, random }: { readonly untilFreeMs: number | undefined; readonly random: number }): number {
    const doubled = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#misses++, 16));
    const jittered = Math.min(MAX_WAIT_MS, doubled * (0.5 + random));
    // Clocks differ: a lease that should have expired already is no reason to poll without a pause.
    return untilFreeMs === undefined ? jittered : Math.min(jittered, Math.max(untilFreeMs, FIRST_WAIT_MS / 2));
  }
}
