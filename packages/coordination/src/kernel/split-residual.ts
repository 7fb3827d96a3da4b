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

/** No payload has this hash: it stands for one that the log has forgotten. */
const FORGOTTEN = 0n;

export interface SplitResidualCommand extends LeasedCommand {
  readonly plan: SplitResidualPlan;
}

/** What a residual split needs to have been read. */
export interface LoadedResidualSplit extends LoadedShard {
  /** The shard that `findSpawnedResidual` names, where it names one. */
  readonly residual: ShardRecord | undefined;
}

/** What a residual split answers. */
export interface SplitResidualOutcome {
  readonly shard: ShardRecord;
  readonly residual: ShardId;
}

/**
 * The residual that an operation made, or `undefined` where it made none.
 *
 * The id of a residual depends on the operation that made it, so it can be recognised
 * among the spawned long after the log forgot the operation.
 */
export function findSpawnedResidual(shard: ShardRecord, opId: OpId): ShardId | undefined {
  const { run, shard: parent, spawned } = shard;
  return spawned.findLast((id, index) => id === deriveSplitShardId({ run, parent, opId, kind: "Residual", index }));
}

/**
 * Cut a part off a shard's upper end. The shard keeps its lease, its fence and its
 * cursor, and goes on with the rest.
 *
 * In this order: the shard is there; the same operation again, by the log or by what it
 * left behind; the tenant; the run has not ended; the lease is good; sizes; the two parts
 * tile the range; the cursor stays with the shard; the shard may spawn one more. Quotas
 * and an id that is taken are the store's to find, in that order, when it writes.
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

/** The residual of an earlier execution, `undefined` where there was none, a conflict where that was another split. */
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

  // The log has forgotten the payload. What is left of it must not contradict the plan.
  const { residual } = loaded;
  assert(residual?.shard === spawned, "the residual of a forgotten split must have been read");
  if (!contradicts(plan, { shard, residual })) return ok(spawned);
  return err(coordError("OpIdConflict", { opId, expectedHash: FORGOTTEN, actualHash: payloadHash }));
}

/**
 * Whether a plan cannot be the one that made this residual.
 *
 * A residual's start never moves. Its end, and its parent's, move with later splits,
 * which may also bring other metadata: it is compared only where the end is still
 * the plan's.
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
    // An inverted range is left to the rule about tiling, which knows its place.
    if (!sized.ok && sized.error.kind !== "InvertedRange") return err({ kind: "InvalidChildSpec", childIndex });
  }
  const covered = validateResidualSplit({ parent: shard.spec, parentNewSpec, residualSpec });
  if (!covered.ok) return covered;
  const place = checkCursorBounds(shard.cursor, parentNewSpec);
  if (place === "BelowRange" || place === "AboveRange") {
    return err({
      kind: "ParentCursorOutOfBounds",
      cursor: shard.cursor.lastKey!.length,
      newParentStart: parentNewSpec.keyRangeStart.length,
      newParentEnd: parentNewSpec.keyRangeEnd.length,
    });
  }
  return checkSpawnLimit(shard, 1);
}
