import {
  FenceEpoch,
  LogicalTime,
  RunStatus,
  type OpId,
  type ShardKey,
  type TenantId,
  type WorkerId,
} from "@gossip/contracts";
import { coordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { LeaseHolder } from "../records/lease-holder.ts";
import type { RunHead } from "../records/run-record.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, isLeasedAt, shardKeyOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { findShard, validateTenant, type LoadedShard } from "./find-shard.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";

export interface AcquireCommand {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly worker: WorkerId;
  /** Repeating it while its lease is valid returns that lease. */
  readonly opId: OpId;
}

/**
 * The outcome of an acquire.
 *
 * - `Granted`  — the worker holds the shard, by the lease in the record.
 * - `Repeated` — the worker held the shard already, by the same op id.
 * - `Parked`   — the shard had been acquired too often without progress and is parked. Once that is stored, the caller
 *   gets `refusal`.
 */
export type AcquireOutcome =
  | { readonly kind: "Granted" | "Repeated"; readonly shard: ShardRecord }
  | { readonly kind: "Parked"; readonly refusal: Refusal<"acquire"> };

const U32_MAX = 0xffff_ffff;

/**
 * Leases a shard to a worker.
 *
 * Checks, in this order: the shard exists; the tenant; a repeated acquire; the run has not ended; the shard is active;
 * no worker holds it, this one included; it has not been acquired too often.
 */
export function acquire(
  loaded: LoadedShard,
  command: AcquireCommand,
  now: LogicalTime,
): Result<Transition<AcquireOutcome, UpdateShard>, Refusal<"acquire">> {
  assertInput(loaded, command, now);
  assertObject(command.key, "shard key");
  const found = findShard(loaded, command.key);
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const own = validateTenant(shard, command.tenant);
  if (!own.ok) return own;

  const at = clampToRecord(now, shard);
  const holder = isLeasedAt(shard, at) ? shard.lease : undefined;
  if (holder !== undefined && holder.owner === command.worker && holder.opId === command.opId) {
    return ok(nothingToDo({ kind: "Repeated", shard }));
  }
  if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));
  if (shard.status !== "Active") {
    return err(coordError("ShardTerminal", { shard: shardKeyOf(shard), status: shard.status }));
  }
  if (holder !== undefined) {
    return err(coordError("AlreadyLeased", { currentOwner: holder.owner, leaseDeadline: holder.deadline }));
  }
  const { maxShardRetries } = run.config;
  const isSpent = maxShardRetries !== undefined && shard.attempts > maxShardRetries;
  return ok(isSpent ? parkSpent(shard, at) : grant({ run, shard }, command, at));
}

function grant(
  { run, shard }: { readonly run: RunHead; readonly shard: ShardRecord },
  { worker, opId }: AcquireCommand,
  at: LogicalTime,
): Transition<AcquireOutcome, UpdateShard> {
  const fenceEpoch = FenceEpoch.increment(shard.fenceEpoch);
  const deadline = LogicalTime.saturatingAdd(at, run.config.leaseDuration);
  const leased = draftOf(shard);
  leased.lease = LeaseHolder.of({ owner: worker, deadline, opId });
  leased.fenceEpoch = fenceEpoch;
  leased.lastTime = at;
  leased.attempts = Math.min(shard.attempts + 1, U32_MAX);
  assertShardRecord(leased, shard);
  const { tenant, run: runId, shard: id } = shard;
  return {
    outcome: { kind: "Granted", shard: leased },
    writes: { kind: "UpdateShard", shard: leased, needsRun: true, notes: undefined },
    events: [{ kind: "ShardAcquired", tenant, run: runId, at, shard: id, worker, fenceEpoch }],
  };
}

/** Parks a shard that was acquired too often without progress. No caller requested it, so no op id is logged. */
function parkSpent(shard: ShardRecord, at: LogicalTime): Transition<AcquireOutcome, UpdateShard> {
  const parked = draftOf(shard);
  parked.status = "Parked";
  parked.parkReason = "TooManyErrors";
  parked.lease = undefined;
  parked.lastTime = at;
  assertShardRecord(parked, shard);
  return {
    outcome: { kind: "Parked", refusal: coordError("ShardTerminal", { shard: shardKeyOf(shard), status: "Parked" }) },
    writes: { kind: "UpdateShard", shard: parked, needsRun: true, notes: undefined },
    events: [
      { kind: "ShardParked", tenant: shard.tenant, run: shard.run, at, shard: shard.shard, reason: "TooManyErrors" },
    ],
  };
}
