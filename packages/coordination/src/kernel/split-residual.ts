import {
  checkCursorBounds,
  Cursor,
  RunStatus,
  ShardSpec,
  validateResidualSplit,
  validateShardSpec,
  type LogicalTime,
  type OpId,
  type ShardId,
  type ShardSpecRef,
  type SplitResidualPlan,
  type SplitValidationError,
} from "@gossip/contracts";
import { coordError, IdempotentOutcome, type CoordError } from "@gossip/coordination-errors";
import { assert, equalBytes, err, ok, unwrap, type Result } from "@gossip/stdx";
import { deriveSplitShardId } from "../hashing/derive-split-shard-id.ts";
import { splitResidualHash, type PayloadHash } from "../hashing/payload-hash.ts";
import { Lease } from "../records/lease.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import type { LeasedCommand } from "./admit-leased-op.ts";
import { checkOpIdempotency } from "./check-op-idempotency.ts";
import { findShard, validateTenant, type FoundShard, type LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { clampToRecord } from "./logical-now.ts";
import { checkSpawnLimit, makeDerivedShard } from "./split-replace.ts";
import { nothingToDo, type Refusal, type SplitShard, type Transition } from "./transition.ts";
import { validateLease } from "./validate-lease.ts";

/** No payload has this hash: it stands for a payload that is no longer in the log. */
const FORGOTTEN = 0n;

export interface SplitResidualCommand extends LeasedCommand {
  readonly plan: SplitResidualPlan;
}

/** The records that a residual split needs. */
export interface LoadedResidualSplit extends LoadedShard {
  /** The shard that `findSpawnedResidual` returned, if any. */
  readonly residual: ShardRecord | undefined;
}

/** The outcome of a residual split. */
export interface SplitResidualOutcome {
  readonly shard: ShardRecord;
  readonly residual: ShardId;
}

/**
 * The residual that an operation created, or `undefined`.
 *
 * The id of a residual is derived from its operation, so it can be recognized among the spawned shards after the
 * operation left the log.
 */
export function findSpawnedResidual(shard: ShardRecord, opId: OpId): ShardId | undefined {
  const { run, shard: parent, spawned } = shard;
  return spawned.findLast((id, index) => id === deriveSplitShardId({ run, parent, opId, kind: "Residual", index }));
}

/**
 * Cuts a part off a shard's upper end. The shard keeps its lease, fence and cursor, and continues with the rest.
 *
 * Checks, in this order: the shard exists; a repeated operation, by the log or by the shard that it created; the
 * tenant; the run has not ended; the lease; sizes; the two parts tile the range; the cursor stays with the shard; the
 * limit of spawned shards. The store checks quotas and then taken ids when it writes.
 */
export function splitResidual(
  loaded: LoadedResidualSplit,
  command: SplitResidualCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<SplitResidualOutcome>, SplitShard>, Refusal<"split">> {
  assertInput(loaded, command, now);
  const { tenant, lease, plan, opId } = command;
  const found = findShard(loaded, Lease.shardKey(lease));
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const payloadHash = splitResidualHash(plan);
  const replayed = findReplay(loaded, found.value, { plan, opId, payloadHash });
  if (!replayed.ok) return replayed;
  if (replayed.value !== undefined) {
    return ok(nothingToDo(IdempotentOutcome.replayed({ shard, residual: replayed.value })));
  }
  const own = validateTenant(shard, tenant);
  if (!own.ok) return own;
  if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));
  const at = clampToRecord(now, shard);
  const leased = validateLease(shard, { tenant, lease, at });
  if (!leased.ok) return leased;
  const fit = validateParts(shard, plan);
  if (!fit.ok) return err(coordError("SplitInvalid", { reason: fit.error }));

  const index = shard.spawned.length;
  const id = deriveSplitShardId({ run: shard.run, parent: shard.shard, opId, kind: "Residual", index });
  const spec = unwrap(ShardSpec.tryFromRef(plan.residualSpec));
  const residual = makeDerivedShard(shard, { id, spec, cursor: Cursor.initial(), at });
  const narrowed = draftOf(shard);
  narrowed.spec = unwrap(ShardSpec.tryFromRef(plan.parentNewSpec));
  narrowed.spawned = [...shard.spawned, id];
  narrowed.opLog = logOp(shard, { opId, payloadHash }, { kind: "SplitResidual", at });
  narrowed.lastTime = at;
  assertShardRecord(narrowed, shard);
  return ok({
    outcome: IdempotentOutcome.executed({ shard: narrowed, residual: id }),
    writes: { kind: "SplitShard", shard: narrowed, created: [residual] },
    events: [{ kind: "ShardResidualCreated", tenant, run: shard.run, at, parent: shard.shard, residual: id }],
  });
}

/** The residual of an earlier execution, `undefined` if there was none, or a conflict if that was another split. */
function findReplay(
  loaded: LoadedResidualSplit,
  { shard }: FoundShard,
  request: { readonly plan: SplitResidualPlan; readonly opId: OpId; readonly payloadHash: PayloadHash },
): Result<ShardId | undefined, CoordError<"OpIdConflict">> {
  const { plan, opId, payloadHash } = request;
  const logged = checkOpIdempotency(shard.opLog, { opId, payloadHash });
  if (!logged.ok) return logged;
  const spawned = findSpawnedResidual(shard, opId);
  if (logged.value !== undefined || spawned === undefined) return ok(spawned);

  // The payload is no longer in the log. What can still be compared must not contradict the plan.
  const { residual } = loaded;
  assert(residual?.shard === spawned, "the residual of a forgotten split must have been read");
  if (!contradicts(plan, { shard, residual })) return ok(spawned);
  return err(coordError("OpIdConflict", { opId, expectedHash: FORGOTTEN, actualHash: payloadHash }));
}

/**
 * Whether a plan cannot be the one that created this residual.
 *
 * The start of a residual never moves. Its end, and that of its parent, move with later splits, which may also change
 * the metadata. So metadata is compared only if the end is still that of the plan.
 */
function contradicts(
  plan: SplitResidualPlan,
  { shard, residual }: { readonly shard: ShardRecord; readonly residual: ShardRecord },
): boolean {
  if (!equalBytes(plan.residualSpec.keyRangeStart, residual.spec.keyRangeStart)) return true;
  return hasOtherMetadata(plan.residualSpec, residual.spec) || hasOtherMetadata(plan.parentNewSpec, shard.spec);
}

function hasOtherMetadata(planned: ShardSpecRef, current: ShardSpecRef): boolean {
  return equalBytes(planned.keyRangeEnd, current.keyRangeEnd) && !equalBytes(planned.metadata, current.metadata);
}

function validateParts(shard: ShardRecord, plan: SplitResidualPlan): Result<void, SplitValidationError> {
  const { parentNewSpec, residualSpec } = plan;
  for (const [childIndex, spec] of [parentNewSpec, residualSpec].entries()) {
    const sized = validateShardSpec(spec);
    // An inverted range is refused later, by the rule about tiling.
    if (!sized.ok && sized.error.kind !== "InvertedRange") return err({ kind: "InvalidChildSpec", childIndex });
  }
  const covered = validateResidualSplit({ parent: shard.spec, parentNewSpec, residualSpec });
  if (!covered.ok) return covered;
  const position = checkCursorBounds(shard.cursor, parentNewSpec);
  if (position === "BelowRange" || position === "AboveRange") {
    return err({
      kind: "ParentCursorOutOfBounds",
      cursor: shard.cursor.lastKey!.length,
      newParentStart: parentNewSpec.keyRangeStart.length,
      newParentEnd: parentNewSpec.keyRangeEnd.length,
    });
  }
  return checkSpawnLimit(shard, 1);
}
