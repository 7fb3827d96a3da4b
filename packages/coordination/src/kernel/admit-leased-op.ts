import { type LogicalTime, type OpId, type TenantId } from "@gossip/contracts";
import type { CoordError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import type { Lease } from "../records/lease.ts";
import type { RunHead } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { checkOpIdempotency, type RequestedOp } from "./check-op-idempotency.ts";
import { findShard, type LoadedShard } from "./find-shard.ts";
import { clampToRecord } from "./logical-now.ts";
import { validateLease } from "./validate-lease.ts";

/** The fields of every operation that needs a lease and is logged. */
export interface LeasedCommand {
  readonly tenant: TenantId;
  readonly lease: Lease;
  readonly opId: OpId;
}

/** An operation that passed the checks. */
export interface AdmittedOp {
  readonly run: RunHead;
  readonly shard: ShardRecord;
  /** The time of the operation. */
  readonly at: LogicalTime;
  /** The operation to log; `undefined` for a replay. */
  readonly op: RequestedOp | undefined;
}

export type AdmissionRefusal = CoordError<
  "ShardNotFound" | "OpIdConflict" | "TenantMismatch" | "ShardTerminal" | "StaleFence" | "LeaseExpired"
>;

/**
 * The first checks of every leased and logged operation, in the order that makes them safe: the shard exists; a
 * repeated operation; the lease.
 *
 * A replay does not check the lease. It must succeed after the lease was lost and after the shard was done, or a worker
 * that crashed before it received the answer could never learn it.
 */
export function admitLeasedOp(
  loaded: LoadedShard,
  { tenant, lease, opId }: LeasedCommand,
  request: { readonly payloadHash: PayloadHash; readonly now: LogicalTime },
): Result<AdmittedOp, AdmissionRefusal> {
  assertObject(lease, "lease");
  const found = findShard(loaded, lease);
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const at = clampToRecord(request.now, shard);
  const op = { opId, payloadHash: request.payloadHash };
  const logged = checkOpIdempotency(shard.opLog, op);
  if (!logged.ok) return logged;
  if (logged.value !== undefined) return ok({ run, shard, at, op: undefined });
  const leased = validateLease(shard, { tenant, lease, at });
  return leased.ok ? ok({ run, shard, at, op }) : leased;
}
