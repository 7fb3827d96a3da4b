import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** How long and how often a call tries. */
export interface RetryPolicy {
  /** Attempts that may fail in one sweep over the endpoints; at least one for each. */
  readonly maxAttempts: number;
  /** For connecting and asking together. */
  readonly attemptMs: number;
  /** For everything that one call does. */
  readonly overallMs: number;
  /** The first pause is random up to this; every further one up to twice as much. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** How long a leader is remembered without news of it. */
  readonly leaderTtlMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  maxAttempts: 5,
  attemptMs: 2000,
  overallMs: 10_000,
  backoffMs: 50,
  maxBackoffMs: 5000,
  leaderTtlMs: 30_000,
});

/** Redirects that one sweep over the endpoints follows, and one call. */
export const MAX_REDIRECTS_PER_PASS = 16;
export const MAX_REDIRECTS_PER_CALL = 64;

export function completePolicy(given: Partial<RetryPolicy>): RetryPolicy {
  assertObject(given, "a retry policy");
  const policy = { ...DEFAULT_RETRY_POLICY, ...given };
  for (const [name, value] of Object.entries(policy))
    assert(Number.isFinite(value) && value > 0, `${name} of a retry policy is a positive number`);
  return policy;
}

/** A random pause, so that clients that failed together do not come back together. */
export function backoffOf(policy: RetryPolicy, failures: number, random: () => number): number {
  return random() * Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** Math.min(failures, 30));
}
