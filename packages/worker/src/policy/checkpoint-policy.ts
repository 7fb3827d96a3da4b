import { assert, assertCount } from "@gossip/stdx";

/** When progress is stored and when a lease is renewed. */
export interface CheckpointPolicy {
  readonly items: number;
  readonly ms: number;
  /** How long after the last renewal the next is due, where there was no checkpoint: each of those renews too. */
  readonly renewMs: number;
}

export const DEFAULT_CHECKPOINT_ITEMS = 10_000;
export const DEFAULT_CHECKPOINT_MS = 1000;

/** A third of the lease: two renewals can fail before it runs out. */
const RENEWALS_PER_LEASE = 3;

export function makeCheckpointPolicy(
  every: { readonly items?: number; readonly ms?: number } = {},
  leaseMs: number,
): CheckpointPolicy {
  assert(typeof every === "object" && every !== null, () => `checkpointEvery must be an object, got ${typeof every}`);
  const { items = DEFAULT_CHECKPOINT_ITEMS, ms = DEFAULT_CHECKPOINT_MS } = every;
  assertCount(items, "items between checkpoints", { min: 1, max: 1_000_000_000 });
  assertCount(ms, "milliseconds between checkpoints", { min: 1, max: 86_400_000 });
  return { items, ms, renewMs: Math.max(1, leaseMs / RENEWALS_PER_LEASE) };
}

/** What the holder of a shard knows of its progress and its lease. */
export interface UpkeepState {
  /** Items finished since the last checkpoint. */
  readonly items: number;
  readonly checkpointedMs: number;
  /** When the renewal was asked for that last succeeded. */
  readonly renewedMs: number;
}

/** When something has to be written at the latest. More items may make it sooner. */
export function upkeepDueMs(
  { ms, renewMs }: CheckpointPolicy,
  { items, checkpointedMs, renewedMs }: UpkeepState,
): number {
  const renewDueMs = renewedMs + renewMs;
  return items > 0 ? Math.min(renewDueMs, checkpointedMs + ms) : renewDueMs;
}
