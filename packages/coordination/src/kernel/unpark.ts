import { FenceEpoch, RunStatus, type LogicalTime, type OpId, type ShardKey, type TenantId } from "@gossip/contracts";
import { coordError, IdempotentOutcome } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { unparkHash } from "../hashing/payload-hash.ts";
import { removalOfParked } from "../records/parked-detail.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { removalOfMarker } from "../records/shard-marker.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { checkRunOpIdempotency } from "./check-op-idempotency.ts";
import { findShard, validateTenant, type LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, type Refusal, type Transition, type UpdateShard } from "./transition.ts";

export interface UnparkCommand {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly opId: OpId;
}

/**
 * Lets workers claim a parked shard again.
 *
 * Checks, in this order: the shard exists; the tenant; a repeated operation; the run has not ended; the shard is
 * parked. The cursor stays and the count of attempts starts over. The fence is raised, so that a worker that held the
 * shard before it was parked cannot write to it again. The detail of the parked shard is removed, and the marker of an item
 * that a crash was blamed on, so that it is tried again.
 */
export function unpark(
  loaded: LoadedShard,
  command: UnparkCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<ShardRecord>, UpdateShard>, Refusal<"unpark">> {
  assertInput(loaded, command, now);
  const { tenant, key, opId } = command;
  assertObject(key, "shard key");
  const found = findShard(loaded, key);
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const own = validateTenant(shard, tenant);
  if (!own.ok) return own;
  const payloadHash = unparkHash(key);
  const logged = checkRunOpIdempotency(shard.opLog, { opId, payloadHash });
  if (!logged.ok) return logged;
  if (logged.value !== undefined) return ok(nothingToDo(IdempotentOutcome.replayed(shard)));
  if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));
  if (shard.status !== "Parked") return err(coordError("NotParked", { status: shard.status }));

  const at = clampToRecord(now, shard);
  const newFenceEpoch = FenceEpoch.increment(shard.fenceEpoch);
  const unparked = draftOf(shard);
  unparked.status = "Active";
  unparked.parkReason = undefined;
  unparked.fenceEpoch = newFenceEpoch;
  unparked.opLog = logOp(shard, { opId, payloadHash }, { kind: "Unpark", at });
  unparked.lastTime = at;
  unparked.attempts = 0;
  assertShardRecord(unparked, shard);
  const notes = [removalOfParked(shard.shard), removalOfMarker(shard.shard)];
  return ok({
    outcome: IdempotentOutcome.executed(unparked),
    writes: { kind: "UpdateShard", shard: unparked, needsRun: true, notes },
    events: [{ kind: "ShardUnparked", tenant, run: shard.run, at, shard: shard.shard, newFenceEpoch }],
  });
}
