import { assert, assertCount } from "@gossip/stdx";

/** How something that failed is tried again. */
export interface RetryPolicy {
  /** How often it is tried in all. */
  readonly maxAttempts: number;
  /** The first pause. Each one after it is twice as long. */
  readonly baseMs: number;
  /** The longest pause. */
  readonly maxMs: number;
}

export type RetryInput = Partial<RetryPolicy>;

export const DEFAULT_ITEM_RETRY: RetryPolicy = /* @__PURE__ */ Object.freeze({ maxAttempts: 5, baseMs: 100, maxMs: 10_000 });
export const DEFAULT_READ_RETRY: RetryPolicy = /* @__PURE__ */ Object.freeze({ maxAttempts: 6, baseMs: 200, maxMs: 10_000 });

export function makeRetryPolicy(input: RetryInput, { what, defaults }: { readonly what: string; readonly defaults: RetryPolicy }): RetryPolicy {
  assert(typeof input === "object" && input !== null, () => `${what} must be an object, got ${typeof input}`);
  const { maxAttempts = defaults.maxAttempts, baseMs = defaults.baseMs } = input;
  assertCount(maxAttempts, `max attempts of ${what}`, { min: 1, max: 1_000_000 });
  assertCount(baseMs, `first pause of ${what}`, { min: 0, max: 3_600_000 });
  const { maxMs = Math.max(baseMs, defaults.maxMs) } = input;
  assertCount(maxMs, `longest pause of ${what}`, { min: baseMs, max: 86_400_000 });
  return { maxAttempts, baseMs, maxMs };
}

/**
 * How long to wait after attempt number `attempt` failed, the first being 1: half to one and a half of the doubled pause, and
 * never more than `maxMs`. `undefined` where it was the last.
 */
export function pauseAfter({ maxAttempts, baseMs, maxMs }: RetryPolicy, attempt: number, random: number): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  return Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 52) * (0.5 + random));
}
