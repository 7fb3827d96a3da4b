const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;

/**
 * How long to wait before a write is repeated that the store failed: twice as long each time, with a short lease never
 * so long that it expires meanwhile. The pauses of many workers differ by a factor of up to three, so that they do not
 * all return at the same moment as the store.
 */
export function storePauseMs({
  failures,
  renewMs,
  random,
}: {
  readonly failures: number;
  readonly renewMs: number;
  /** From 0 to 1. */
  readonly random: number;
}): number {
  const doubledMs = FIRST_PAUSE_MS * 2 ** Math.min(failures, 16);
  return Math.min(MAX_PAUSE_MS, renewMs / 4, doubledMs) * (0.5 + random);
}
