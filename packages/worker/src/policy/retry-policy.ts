import { assert, assertCount } from "@gossip/stdx";

/** How something that failed is tried again. */
export interface RetryPolicy {
  /** How often it is tried in all. */
  readonly maxAttempts: number;
  /** The first pause. Each one after it is twice as long. */
  readonly baseMs: number;
  /** The longest pause, whatever was asked for. */
  readonly maxMs: number;
}

export type RetryInput = Partial<RetryPolicy>;

export const DEFAULT_ITEM_RETRY: RetryPolicy = /* @__PURE__ */ Object.freeze({
  maxAttempts: 5,
  baseMs: 100,
  maxMs: 10_000,
});
export const DEFAULT_READ_RETRY: RetryPolicy = /* @__PURE__ */ Object.freeze({
  maxAttempts: 6,
  baseMs: 200,
  maxMs: 10_000,
});

export function makeRetryPolicy(
  input: RetryInput,
  { what, defaults }: { readonly what: string; readonly defaults: RetryPolicy },
): RetryPolicy {
  assert(typeof input === "object" && input !== null, () => `${what} must be an object, got ${typeof input}`);
  const { maxAttempts = defaults.maxAttempts, baseMs = defaults.baseMs } = input;
  assertCount(maxAttempts, `max attempts of ${what}`, { min: 1, max: 1_000_000 });
  assertCount(baseMs, `first pause of ${what}`, { min: 0, max: 3_600_000 });
  const { maxMs = Math.max(baseMs, defaults.maxMs) } = input;
  assertCount(maxMs, `longest pause of ${what}`, { min: baseMs, max: 86_400_000 });
  return { maxAttempts, baseMs, maxMs };
}

/** What is known of an attempt that failed. */
export interface FailedAttempt {
  /** Its number, the first being 1. */
  readonly attempt: number;
  /** A number from 0 to 1. */
  readonly random: number;
  /** How long it wants to be left alone; 0 where it does not say. */
  readonly leastMs: number;
}

/**
 * How long to wait after an attempt failed: half to one and a half of the doubled pause, on top of what it asked for, and never
 * more than `maxMs`. `undefined` where it was the last.
 *
 * On top, so that many who were sent away by one server for as long do not all come back at the same moment.
 */
export function pauseAfter(
  { maxAttempts, baseMs, maxMs }: RetryPolicy,
  { attempt, random, leastMs }: FailedAttempt,
): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  return Math.min(maxMs, leastMs + baseMs * 2 ** Math.min(attempt - 1, 52) * (0.5 + random));
}
