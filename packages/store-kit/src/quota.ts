import type { ShardLimitScope } from "@gossip/contracts";
import type { CommitAnswer, ShardLimits } from "@gossip/coordination";

/** How many shards exist: of one tenant, and in the whole store. */
export interface QuotaCounts {
  readonly tenant: number;
  readonly total: number;
}

/**
 * Returns the refusal of a write set that creates `additional` shards, or `undefined` if they fit into both quotas.
 *
 * The tenant's quota is checked first. A set that creates no shards always fits, even when a quota was lowered below
 * what exists.
 */
export function checkQuota(counts: QuotaCounts, additional: number, limits: ShardLimits): CommitAnswer | undefined {
  if (additional === 0) return undefined;
  const refusal = (scope: ShardLimitScope, current: number, max: number): CommitAnswer | undefined =>
    current + additional > max ? { kind: "LimitExceeded", scope, current, additional, max } : undefined;
  return (
    refusal("PerTenant", counts.tenant, limits.maxShardsPerTenant) ??
    refusal("Global", counts.total, limits.maxShardsTotal)
  );
}
