/** How long, and how often, a client tries again. */
export interface Patience {
  /** How long a call may take in all before it fails. */
  readonly patienceMs: number;
  /** How long the server may be silent before the call is repeated. */
  readonly replyTimeoutMs: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * The pause before a further try: doubled each time, and at least what the server asked for. Both parts are jittered, so
 * that clients do not return together after a restart, or after a refusal that all of them got at the same time.
 */
export function pauseMs({ firstPauseMs, maxPauseMs, random }: Patience, attempt: number, askedMs = 0): number {
  const limit = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(attempt, 20));
  return askedMs * (1 + random() / 2) + limit * (0.5 + random() / 2);
}
