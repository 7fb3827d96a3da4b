import { DEFAULT_MAX_SHARDS_PER_TENANT, DEFAULT_MAX_SHARDS_TOTAL, OpId, U64_MAX, type Clock } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type { ShardLimits } from "../store/write-set.ts";
import { makeRetryPolicy, type StoreRetryPolicy } from "./retry-policy.ts";

export interface CoordinatorOptions {
  readonly store: CoordinationStore;
  /** Source of time: `systemClock(Date.now)` on one machine, the timestamp oracle's clock in a fleet. */
  readonly clock: Clock;
  /** Quotas on the number of shards. By default 100,000 per tenant and 1,000,000 in total. */
  readonly limits?: Partial<ShardLimits>;
  /** How long a worker must wait after a claim, in units of the clock. By default it need not wait. */
  readonly claimCooldown?: bigint;
  /** How to retry. By default 8 attempts, with pauses that start at 5 ms and double up to 200 ms. */
  readonly retry?: Partial<StoreRetryPolicy>;
  /**
   * Number of shards to keep a copy of for lease holders without a session in this process, so that their calls need no
   * read. 0 by default: a session keeps its own copy.
   */
  readonly shardCopies?: number;
  /** Makes op ids for calls without one. `OpId.random` by default. */
  readonly newOpId?: () => OpId;
}

/** The options with every default filled in. */
export interface CoordinatorSettings {
  readonly store: CoordinationStore;
  readonly clock: Clock;
  readonly limits: ShardLimits;
  readonly claimCooldown: bigint;
  readonly retry: StoreRetryPolicy;
  readonly shardCopies: number;
  readonly newOpId: () => OpId;
}

export function makeSettings(options: CoordinatorOptions): CoordinatorSettings {
  assert(
    typeof options === "object" && options !== null,
    () => `coordinator options must be an object, got ${typeof options}`,
  );
  const { store, clock, claimCooldown = 0n, newOpId = () => OpId.random() } = options;
  assert(
    typeof store === "object" && store !== null && typeof store.commit === "function",
    "store must be a CoordinationStore",
  );
  assert(typeof clock === "object" && clock !== null && typeof clock.now === "function", "clock must be a Clock");
  assert(
    typeof claimCooldown === "bigint" && claimCooldown >= 0n && claimCooldown <= U64_MAX,
    "claim cooldown must be a bigint from 0 to 2^64 - 1",
  );
  assert(typeof newOpId === "function", "newOpId must be a function such as OpId.random");
  return {
    store,
    clock,
    limits: makeLimits(options.limits),
    claimCooldown,
    retry: makeRetryPolicy(options.retry, store.traits),
    shardCopies: options.shardCopies ?? 0,
    newOpId,
  };
}

function makeLimits(limits: Partial<ShardLimits> = {}): ShardLimits {
  assert(typeof limits === "object" && limits !== null, () => `limits must be an object, got ${typeof limits}`);
  const { maxShardsPerTenant = DEFAULT_MAX_SHARDS_PER_TENANT, maxShardsTotal = DEFAULT_MAX_SHARDS_TOTAL } = limits;
  const bounds = { min: 1, max: Number.MAX_SAFE_INTEGER };
  assertCount(maxShardsPerTenant, "max shards per tenant", bounds);
  assertCount(maxShardsTotal, "max shards in all", bounds);
  return { maxShardsPerTenant, maxShardsTotal };
}
