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
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { LeaseHolder } from "../records/lease-holder.ts";
import type { RunHead } from "../records/run-record.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, isLeasedAt, shardKeyOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { findShard, validateTenant, type LoadedShard } from "./find-shard.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, withEvents, type Refusal, type Transition, type UpdateShard } from "./transition.ts";

export interface AcquireCommand {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly worker: WorkerId;
  /** Repeating it while its lease holds gives that lease again. */
  readonly opId: OpId;
}

/**
 * What became of an acquire.
 *
 * - `Granted`  — the shard is the worker's, by a lease that the record describes.
 * - `Repeated` — it was the worker's already, by this very acquire.
 * - `Parked`   — it had been tried too often and was set aside. The caller is told `refusal`,
 *   but only after that has been stored.
 */
export type AcquireOutcome =
  | { readonly kind: "Granted" | "Repeated"; readonly shard: ShardRecord }
  | { readonly kind: "Parked"; readonly refusal: Refusal<"acquire"> };

const U32_MAX = 0xffff_ffff;

/**
 * Give a shard to a worker.
 *
 * In this order: the shard is there; it is the tenant's; the same acquire again; the
 * run has not ended; the shard is active; nobody holds it, not even the worker
 * itself; it has not been tried too often.
 */
export function acquire(
  loaded: LoadedShard,
  command: AcquireCommand,
  now: LogicalTime,
): Result<Transition<AcquireOutcome, UpdateShard>, Refusal<"acquire">> {
  return withEvents(decideAcquire(loaded, command, now));
}

/** `acquire`, whose events are made anew whenever they are asked for: nearly always nobody listens, and a claim acquires hundreds. */
export function decideAcquire(
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
  return new Granted(leased);
}

/** A shard that is to be given to a worker. */
class Granted implements Transition<AcquireOutcome, UpdateShard> {
  readonly outcome: { readonly kind: "Granted"; readonly shard: ShardRecord };
  readonly writes: UpdateShard;

  constructor(shard: ShardRecord) {
    this.outcome = { kind: "Granted", shard };
    this.writes = { kind: "UpdateShard", shard, needsRun: true };
  }

  get events(): readonly CoordinationEvent[] {
    const { tenant, run, shard, lastTime: at, lease, fenceEpoch } = this.outcome.shard;
    return [{ kind: "ShardAcquired", tenant, run, at, shard, worker: lease!.owner, fenceEpoch }];
  }
}

/** Set aside a shard that was acquired too often without advancing. Nobody asked for it, so no op id is logged. */
function parkSpent(shard: ShardRecord, at: LogicalTime): Transition<AcquireOutcome, UpdateShard> {
  const parked = draftOf(shard);
  parked.status = "Parked";
  parked.parkReason = "TooManyErrors";
  parked.lease = undefined;
  parked.lastTime = at;
  assertShardRecord(parked, shard);
  return {
    outcome: { kind: "Parked", refusal: coordError("ShardTerminal", { shard: shardKeyOf(shard), status: "Parked" }) },
    writes: { kind: "UpdateShard", shard: parked, needsRun: true },
    events: [
      { kind: "ShardParked", tenant: shard.tenant, run: shard.run, at, shard: shard.shard, reason: "TooManyErrors" },
    ],
  };
}
