import { assert, assertCount } from "@gossip/stdx";
import type { StoreTraits } from "../store/coordination-store.ts";
import { randomFraction, waitMs } from "./backoff-timer.ts";

/** How a coordinator retries when a store refuses a write or fails. */
export interface StoreRetryPolicy {
  /** Attempts in total before an operation returns `BackendError`. */
  readonly maxAttempts: number;
  /** The first pause. Each pause after it is twice as long. */
  readonly baseMs: number;
  /** The longest pause. */
  readonly maxMs: number;
  /** Waits. By default a timer; over a store that answers at once, the next attempt follows immediately. */
  readonly sleep: (ms: number) => Promise<unknown>;
  /** From 0 up to 1. Spreads the pauses, so that callers that collided do not collide again. */
  readonly random: () => number;
}

const MAX_DOUBLINGS = 6;

/** The policy of a coordinator over a store with these traits. */
export function makeRetryPolicy(
  input: Partial<StoreRetryPolicy> = {},
  { answersAtOnce = false }: StoreTraits = {},
): StoreRetryPolicy {
  assert(typeof input === "object" && input !== null, () => `retry policy must be an object, got ${typeof input}`);
  const policy: StoreRetryPolicy = {
    maxAttempts: 8,
    baseMs: 5,
    maxMs: 200,
    // No other process can be in the way of a store that answers at once, so there is nothing to wait for.
    sleep: answersAtOnce ? () => Promise.resolve() : waitMs,
    random: randomFraction,
    ...input,
  };
  assertCount(policy.maxAttempts, "max attempts", { min: 1, max: 1000 });
  assertCount(policy.baseMs, "base pause", { min: 0, max: 60_000 });
  assertCount(policy.maxMs, "longest pause", { min: policy.baseMs, max: 600_000 });
  assert(typeof policy.sleep === "function", "sleep must be a function of milliseconds");
  assert(typeof policy.random === "function", "random must be a function such as Math.random");
  return policy;
}

/** The pause before retry number `attempt`, counted from 1: half to one and a half of the doubled pause. */
export function pauseMs({ baseMs, maxMs, random }: StoreRetryPolicy, attempt: number): number {
  const pause = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS));
  return pause * (0.5 + random());
}
