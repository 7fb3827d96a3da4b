import { assert, assertCount } from "@gossip/stdx";

/** How a failed attempt is retried. */
export interface RetrySchedule {
  /** The total number of attempts. */
  readonly maxAttempts: number;
  /** The first pause. */
  readonly baseMs: number;
  /** How many times longer each further pause is, from 1. */
  readonly factor: number;
  /** The longest pause, even if a longer one was requested. */
  readonly maxMs: number;
  /** How far pauses vary, as a share of the pause, from 0 to 1: 0.5 means from half to one and a half times. */
  readonly jitter: number;
}

export type RetryInput = Partial<RetrySchedule>;

/** The pauses of `RetryInput`. The number of attempts is not limited; `patienceMs` of the run is the limit. */
export type BackoffInput = Omit<RetryInput, "maxAttempts">;

export const DEFAULT_ITEM_RETRY: RetrySchedule = /* @__PURE__ */ Object.freeze({
  maxAttempts: 5,
  baseMs: 100,
  factor: 2,
  maxMs: 10_000,
  jitter: 0.5,
});
export const DEFAULT_READ_RETRY: RetrySchedule = /* @__PURE__ */ Object.freeze({
  maxAttempts: 6,
  baseMs: 200,
  factor: 2,
  maxMs: 10_000,
  jitter: 0.5,
});
/** For a dependency that is down. The pauses are longer, and the number of attempts does not matter. */
export const DEFAULT_DEPENDENCY_RETRY: RetrySchedule = /* @__PURE__ */ Object.freeze({
  maxAttempts: 1_000_000,
  baseMs: 500,
  factor: 2,
  maxMs: 60_000,
  jitter: 0.5,
});

export function makeRetrySchedule(
  input: RetryInput,
  { what, defaults }: { readonly what: string; readonly defaults: RetrySchedule },
): RetrySchedule {
  assert(typeof input === "object" && input !== null, () => `${what} must be an object, got ${typeof input}`);
  const { maxAttempts = defaults.maxAttempts, baseMs = defaults.baseMs } = input;
  const { factor = defaults.factor, jitter = defaults.jitter } = input;
  assertCount(maxAttempts, `max attempts of ${what}`, { min: 1, max: 1_000_000 });
  assertCount(baseMs, `first pause of ${what}`, { min: 0, max: 3_600_000 });
  assert(factor >= 1 && factor <= 100, () => `factor of ${what} must be a number from 1 to 100, got ${String(factor)}`);
  assert(jitter >= 0 && jitter <= 1, () => `jitter of ${what} must be a number from 0 to 1, got ${String(jitter)}`);
  const { maxMs = Math.max(baseMs, defaults.maxMs) } = input;
  assertCount(maxMs, `longest pause of ${what}`, { min: baseMs, max: 86_400_000 });
  return { maxAttempts, baseMs, factor, maxMs, jitter };
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
 * How long to wait after a failed attempt: the pause for this attempt with its jitter, plus the requested delay, and
 * never more than `maxMs`. Returns `undefined` after the last attempt.
 *
 * The pause is added to the requested delay so that clients that a server turned away with the same delay do not all
 * come back at the same moment.
 */
export function pauseAfter(
  { maxAttempts, baseMs, factor, maxMs, jitter }: RetrySchedule,
  { attempt, random, leastMs }: FailedAttempt,
): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  // Bounded before the jitter, because a large power times zero would not be a number.
  const grownMs = Math.min(Number.MAX_SAFE_INTEGER, baseMs * factor ** Math.min(attempt - 1, 52));
  return Math.min(maxMs, leastMs + grownMs * (1 - jitter + 2 * jitter * random));
}
