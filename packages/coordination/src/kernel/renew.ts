import { LogicalTime, RunStatus, type TenantId } from "@gossip/contracts";
import { coordError } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { LeaseHolder } from "../records/lease-holder.ts";
import { Lease } from "../records/lease.ts";
import type { RunHead } from "../records/run-record.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { findShard, validateTenant, type LoadedShard } from "./find-shard.ts";
import { clampToRecord } from "./logical-now.ts";
import type { Refusal, Transition, UpdateShard } from "./transition.ts";
import { validateLease } from "./validate-lease.ts";

export interface RenewCommand {
  readonly tenant: TenantId;
  readonly lease: Lease;
}

/** The outcome of a renewal: the new deadline. */
export interface RenewOutcome {
  readonly newDeadline: LogicalTime;
  readonly shard: ShardRecord;
}

/**
 * Moves a lease's deadline to a whole lease from now.
 *
 * Checks, in this order: the shard exists; the tenant; the run has not ended; the lease. There is no op id: repeating a
 * renewal does no harm.
 */
export function renew(
  loaded: LoadedShard,
  command: RenewCommand,
  now: LogicalTime,
): Result<Transition<RenewOutcome, UpdateShard>, Refusal<"renew">> {
  assertInput(loaded, command, now);
  const { tenant, lease } = command;
  const found = findShard(loaded, Lease.shardKey(lease));
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const own = validateTenant(shard, tenant);
  if (!own.ok) return own;
  if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));
  const at = clampToRecord(now, shard);
  const leased = validateLease(shard, { tenant, lease, at });
  if (!leased.ok) return leased;

  const holder = extendLease(shard, run, at);
  const renewed = draftOf(shard);
  renewed.lease = holder;
  renewed.lastTime = at;
  assertShardRecord(renewed, shard);
  const newDeadline = holder.deadline;
  return ok({
    outcome: { newDeadline, shard: renewed },
    writes: { kind: "UpdateShard", shard: renewed, needsRun: true, notes: undefined },
    events: [{ kind: "ShardLeaseRenewed", tenant: shard.tenant, run: shard.run, at, shard: shard.shard, newDeadline }],
  });
}

/** Returns the holder with a deadline one lease from `at`. It cannot move back, because `at` cannot. */
export function extendLease(shard: ShardRecord, run: RunHead, at: LogicalTime): LeaseHolder {
  assert(shard.lease !== undefined, "only a leased shard can be renewed");
  const { owner, opId } = shard.lease;
  return LeaseHolder.of({ owner, deadline: LogicalTime.saturatingAdd(at, run.config.leaseDuration), opId });
}
