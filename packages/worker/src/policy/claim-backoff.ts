/** The shortest wait of a worker that found nothing. */
const FIRST_WAIT_MS = 20;
/** The longest: what another process frees is then found within it. */
const MAX_WAIT_MS = 500;

/**
 * How long workers wait that found nothing to claim: twice as long each time, and never longer than
 * until the first lease that somebody holds runs out, where that is known.
 */
export class ClaimBackoff {
  #misses = 0;

  /** Something was claimed, or is about to be there. */
  reset(): void {
    this.#misses = 0;
  }

  /** `untilFreeMs` is how long the first lease still has to run; `random` is from 0 to 1. */
  nextWaitMs({ untilFreeMs, random }: { readonly untilFreeMs: number | undefined; readonly random: number }): number {
    const doubled = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#misses++, 16));
    const jittered = Math.min(MAX_WAIT_MS, doubled * (0.5 + random));
    // A lease that should have run out already is no reason to ask in a loop: clocks differ.
    return untilFreeMs === undefined ? jittered : Math.min(jittered, Math.max(untilFreeMs, FIRST_WAIT_MS / 2));
  }
}
