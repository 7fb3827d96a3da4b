import { assert, assertCount } from "@gossip/stdx";

/** How a coordinator tries again when a store refuses or fails. */
export interface RetryPolicy {
  /** How often an operation is tried in all, before it answers that the store failed. */
  readonly maxAttempts: number;
  /** The first pause. Each one after it is twice as long. */
  readonly baseMs: number;
  /** The longest pause. */
  readonly maxMs: number;
  /** Waits. Without it the next attempt follows at once. */
  readonly sleep: ((ms: number) => Promise<unknown>) | undefined;
  /** From 0 to 1, so that those who collided do not meet again. Without it every pause is of middling length. */
  readonly random: () => number;
}

export const DEFAULT_RETRY: RetryPolicy = /* @__PURE__ */ Object.freeze({
  maxAttempts: 8,
  baseMs: 5,
  maxMs: 200,
  sleep: undefined,
  random: () => 0.5,
});

const MAX_DOUBLINGS = 6;

export function makeRetryPolicy(input: Partial<RetryPolicy> = {}): RetryPolicy {
  assert(typeof input === "object" && input !== null, () => `retry policy must be an object, got ${typeof input}`);
  const policy = { ...DEFAULT_RETRY, ...input };
  assertCount(policy.maxAttempts, "max attempts", { min: 1, max: 1000 });
  assertCount(policy.baseMs, "base pause", { min: 0, max: 60_000 });
  assertCount(policy.maxMs, "longest pause", { min: policy.baseMs, max: 600_000 });
  assert(policy.sleep === undefined || typeof policy.sleep === "function", "sleep must be a function of milliseconds");
  assert(typeof policy.random === "function", "random must be a function such as Math.random");
  return policy;
}

/** How long to wait before attempt number `attempt`, the first retry being 1: half to one and a half of the doubled pause. */
export function pauseMs({ baseMs, maxMs, random }: RetryPolicy, attempt: number): number {
  const pause = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS));
  return pause * (0.5 + random());
}
