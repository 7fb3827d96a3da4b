import { assert, assertCount } from "@gossip/stdx";

/** How a failed attempt is retried. */
export interface RetrySchedule {
  /** The total number of attempts. */
  readonly maxAttempts: number;
  /** The first pause. Each further pause is twice as long. */
  readonly baseMs: number;
  /** The longest pause, even if a longer one was requested. */
  readonly maxMs: number;
}

export type RetryInput = Partial<RetrySchedule>;

export const DEFAULT_ITEM_RETRY: RetrySchedule = /* @__PURE__ */ Object.freeze({
  maxAttempts: 5,
  baseMs: 100,
  maxMs: 10_000,
});
export const DEFAULT_READ_RETRY: RetrySchedule = /* @__PURE__ */ Object.freeze({
  maxAttempts: 6,
  baseMs: 200,
  maxMs: 10_000,
});

export function makeRetrySchedule(
  input: RetryInput,
  { what, defaults }: { readonly what: string; readonly defaults: RetrySchedule },
): RetrySchedule {
  assert(typeof input === "object" && input !== null, () => `${what} must be an object, got ${typeof input}`);
  const { maxAttempts = defaults.maxAttempts, baseMs = defaults.baseMs } = input;
  assertCount(maxAttempts, `max attempts of ${what}`, { min: 1, max: 1_000_000 });
  assertCount(baseMs, `first pause of ${what}`, { min: 0, max: 3_600_000 });
  const { maxMs = Math.max(baseMs, defaults.maxMs) } = input;
  assertCount(maxMs, `longest pause of ${what}`, { min: baseMs, max: 86_400_000 });
  return { maxAttempts, baseMs, maxMs };
}

/** A failed attempt. */
export interface FailedAttempt {
  /** Its number, starting at 1. */
  readonly attempt: number;
  /** A number from 0 to 1. */
  readonly random: number;
  /** The least delay that the failure requested, or 0. */
  readonly leastMs: number;
}

/**
 * How long to wait after a failed attempt: half to one and a half times the doubled pause, plus the requested delay,
 * and never more than `maxMs`. Returns `undefined` after the last attempt.
 *
 * The pause is added to the requested delay so that clients that a server turned away with the same delay do not all
 * come back at the same moment.
 */
export function pauseAfter(
  { maxAttempts, baseMs, maxMs }: RetrySchedule,
  { attempt, random, leastMs }: FailedAttempt,
): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  return Math.min(maxMs, leastMs + baseMs * 2 ** Math.min(attempt - 1, 52) * (0.5 + random));
}
