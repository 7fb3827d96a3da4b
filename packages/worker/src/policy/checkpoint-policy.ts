import { assert, assertCount } from "@gossip/stdx";

/** When progress is stored and when a lease is renewed. */
export interface CheckpointPolicy {
  readonly items: number;
  readonly ms: number;
  /** How long after the last renewal the next one is due. A checkpoint that is due by then renews in the same write. */
  readonly renewMs: number;
}

export const DEFAULT_CHECKPOINT_ITEMS = 10_000;
export const DEFAULT_CHECKPOINT_MS = 1000;

/** A renewal is due after a third of the lease, so two in a row can fail before the lease expires. */
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

/** What the holder of a shard knows about its progress and its lease. */
export interface UpkeepState {
  /** Items finished since the last checkpoint. */
  readonly items: number;
  readonly checkpointedMs: number;
  /** When the last successful renewal was requested. The lease may have been running since then. */
  readonly renewedMs: number;
}

/** The latest time of the next write. More items may bring it forward. */
export function upkeepDueMs(
  { ms, renewMs }: CheckpointPolicy,
  { items, checkpointedMs, renewedMs }: UpkeepState,
): number {
  const renewDueMs = renewedMs + renewMs;
  return items > 0 ? Math.min(renewDueMs, checkpointedMs + ms) : renewDueMs;
}

/**
 * Whether a checkpoint requested now also renews the lease.
 *
 * Renewing costs a store more than progress alone, so most checkpoints do not. `writeMs` is how long the last write
 * took. The next renewal has to wait for this write, so with a slow store it must not be left to the next one. A holder
 * keeps its lease as long as every write takes less than a quarter of the lease.
 */
export function mustRenew(
  { renewMs }: CheckpointPolicy,
  { nowMs, renewedMs, writeMs }: { readonly nowMs: number; readonly renewedMs: number; readonly writeMs: number },
): boolean {
  return nowMs + writeMs >= renewedMs + renewMs;
}
