import type { LogicalTime, TenantId } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { validateTenant } from "./find-shard.ts";

/** Who presents which lease, and when. */
export interface PresentedLease {
  readonly tenant: TenantId;
  readonly lease: Lease;
  readonly at: LogicalTime;
}

/**
 * Check that a lease is good for its record.
 *
 * Five rules, in the order of what they give away:
 *
 * 1. the tenant is the record's, or nothing else is told;
 * 2. the shard is not terminal;
 * 3. the fence is the current one: whoever acquired since has raised it;
 * 4. somebody holds it, and its deadline lies ahead: at the deadline it is over;
 * 5. the holder is the one who presents it. With the right fence only a fault in
 *    what was stored can break this, and the answer is the same as for a stale fence.
 *
 * The record's deadline counts. The one inside the lease may be from before a renewal.
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
