const FIRST_MS = 500;
const MOST_MS = 15_000;

/**
 * How long to wait before attempt number `attempt` (from 0). Doubles up to 15 s. `draw` (0 to 1) spreads the pages of
 * many operators, so that a server that comes back is not asked by all of them at once.
 */
export function backoffMs(attempt: number, draw: number): number {
  const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(most / 2 + (most / 2) * draw);
}
