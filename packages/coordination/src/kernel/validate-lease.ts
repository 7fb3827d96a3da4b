import type { LogicalTime, TenantId } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { validateTenant } from "./find-shard.ts";

/** A lease, the tenant that presents it, and the time. */
export interface PresentedLease {
  readonly tenant: TenantId;
  readonly lease: Lease;
  readonly at: LogicalTime;
}

/**
 * Checks that a lease is valid for its record.
 *
 * Five rules, ordered by what they reveal:
 *
 * 1. the tenant is that of the record, or nothing else is revealed;
 * 2. the shard is not terminal;
 * 3. the fence is the current one: every acquisition raises it;
 * 4. the shard is held, and its deadline is in the future: a lease ends at its deadline;
 * 5. the holder is the worker that presents the lease. With the right fence, only damaged data can break this rule, and
 * the error is that of a stale fence.
 *
 * The deadline of the record decides. The one in the lease may be older than the last renewal.
 */
export function validateLease(
  record: ShardRecord,
  { tenant, lease, at }: PresentedLease,
): Result<void, CoordError<"TenantMismatch" | "ShardTerminal" | "StaleFence" | "LeaseExpired">> {
  const own = validateTenant(record, tenant);
  if (!own.ok) return own;
  if (record.status !== "Active") {
    return err(coordError("ShardTerminal", { shard: Lease.shardKey(lease), status: record.status }));
  }
  const holder = record.lease;
  if (lease.fence !== record.fenceEpoch || holder === undefined) return staleFence(record, lease);
  if (at >= holder.deadline) return err(coordError("LeaseExpired", { deadline: holder.deadline, now: at }));
  return holder.owner === lease.owner ? ok() : staleFence(record, lease);
}

function staleFence(record: ShardRecord, lease: Lease): Result<never, CoordError<"StaleFence">> {
  return err(coordError("StaleFence", { presented: lease.fence, current: record.fenceEpoch }));
}
