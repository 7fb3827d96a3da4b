import {
  MAX_SPAWNED_PER_SHARD,
  RunStatus,
  ShardSpec,
  validateChildCursors,
  validateSplitCoverage,
  type LogicalTime,
  type OpId,
  type ShardId,
  type SplitReplaceChild,
  type SplitReplacePlan,
  type SplitValidationError,
} from "@gossip/contracts";
import { coordError, IdempotentOutcome } from "@gossip/coordination-errors";
import { assertCount, compareBytes, err, ok, unwrap, type Result } from "@gossip/stdx";
import { deriveSplitShardId } from "../hashing/derive-split-shard-id.ts";
import { splitReplaceHash } from "../hashing/payload-hash.ts";
import { Lease } from "../records/lease.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { draftOf, newShardRecord, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import type { LeasedCommand } from "./admit-leased-op.ts";
import { checkOpIdempotency } from "./check-op-idempotency.ts";
import { findShard, validateTenant, type LoadedShard } from "./find-shard.ts";
import { logOp } from "./log-op.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, type Refusal, type SplitShard, type Transition } from "./transition.ts";
import { validateLease } from "./validate-lease.ts";

export interface SplitReplaceCommand extends LeasedCommand {
  readonly plan: SplitReplacePlan;
  /** Maximum number of children that the store can write at once. */
  readonly maxChildren: number;
}

/** The outcome of a split-replace. */
export interface SplitReplaceOutcome {
  readonly shard: ShardRecord;
  /** By range start. */
  readonly children: readonly ShardId[];
}

/**
 * Replaces a shard by children that tile its range.
 *
 * Checks, in this order: the shard exists; a repeated operation; the tenant; the run has not ended; the lease; the
 * number of children that the store can write; the children tile the range and continue from the cursor; the limit of
 * spawned shards. The store checks quotas and then taken ids when it writes.
 */
export function splitReplace(
  loaded: LoadedShard,
  command: SplitReplaceCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<SplitReplaceOutcome>, SplitShard>, Refusal<"split">> {
  assertInput(loaded, command, now);
  const { tenant, lease, plan, opId, maxChildren } = command;
  assertCount(maxChildren, "most children of a split", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const found = findShard(loaded, Lease.shardKey(lease));
  if (!found.ok) return found;
  const { run, shard } = found.value;
  const payloadHash = splitReplaceHash(plan);
  const logged = checkOpIdempotency(shard.opLog, { opId, payloadHash });
  if (!logged.ok) return logged;
  // A split shard spawns nothing more, so its children are the last in the list.
  const count = plan.children.length;
  if (logged.value !== undefined) {
    return ok(nothingToDo(IdempotentOutcome.replayed({ shard, children: shard.spawned.slice(-count) })));
  }
  const own = validateTenant(shard, tenant);
  if (!own.ok) return own;
  if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));
  const at = clampToRecord(now, shard);
  const leased = validateLease(shard, { tenant, lease, at });
  if (!leased.ok) return leased;
  const fit = validateChildren(shard, command);
  if (!fit.ok) return err(coordError("SplitInvalid", { reason: fit.error }));

  const created = makeChildren(shard, { plan, opId, at });
  const children = created.map((child) => child.shard);
  const split = draftOf(shard);
  split.status = "Split";
  split.lease = undefined;
  split.spawned = [...shard.spawned, ...children];
  split.opLog = logOp(shard, { opId, payloadHash }, { kind: "SplitReplace", at });
  split.lastTime = at;
  assertShardRecord(split, shard);
  return ok({
    outcome: IdempotentOutcome.executed({ shard: split, children }),
    writes: { kind: "SplitShard", shard: split, created },
    events: [{ kind: "ShardSplit", tenant, run: shard.run, at, parent: shard.shard, children }],
  });
}

function validateChildren(
  shard: ShardRecord,
  { plan, maxChildren }: SplitReplaceCommand,
): Result<void, SplitValidationError> {
  const requested = plan.children.length;
  if (requested > maxChildren) return err({ kind: "BackendChildLimitExceeded", requested, backendMax: maxChildren });
  const covered = validateSplitCoverage(
    shard.spec,
    plan.children.map((child) => child.spec),
  );
  if (!covered.ok) return covered;
  const continued = validateChildCursors(shard.cursor, plan.children);
  return continued.ok ? checkSpawnLimit(shard, requested) : continued;
}

/** Checks the limit of spawned shards, which counts over the whole life of a shard. */
export function checkSpawnLimit(shard: ShardRecord, additional: number): Result<void, SplitValidationError> {
  const current = shard.spawned.length;
  if (current + additional <= MAX_SPAWNED_PER_SHARD) return ok();
  return err({ kind: "SpawnLimitExceeded", current, additional, max: MAX_SPAWNED_PER_SHARD });
}

function byStart(a: SplitReplaceChild, b: SplitReplaceChild): number {
  return compareBytes(a.spec.keyRangeStart, b.spec.keyRangeStart);
}

function makeChildren(
  shard: ShardRecord,
  split: { readonly plan: SplitReplacePlan; readonly opId: OpId; readonly at: LogicalTime },
): ShardRecord[] {
  return split.plan.children.toSorted(byStart).map(({ spec, cursor }, position) => {
    const index = shard.spawned.length + position;
    const id = deriveSplitShardId({ run: shard.run, parent: shard.shard, opId: split.opId, kind: "Child", index });
    return makeDerivedShard(shard, { id, spec: unwrap(ShardSpec.tryFromRef(spec)), cursor, at: split.at });
  });
}

/**
 * A shard that a split of `parent` creates: active, never held, with the semantics of the parent. Its fence starts at
 * `FenceEpoch.INITIAL`, whatever that of the parent is.
 */
export function makeDerivedShard(
  parent: ShardRecord,
  derived: Pick<ShardRecord, "spec" | "cursor"> & { readonly id: ShardId; readonly at: LogicalTime },
): ShardRecord {
  const record = newShardRecord({
    tenant: parent.tenant,
    key: { run: parent.run, shard: derived.id },
    spec: derived.spec,
    cursor: derived.cursor,
    cursorSemantics: parent.cursorSemantics,
    parent: parent.shard,
    now: derived.at,
  });
  assertShardRecord(record);
  return record;
}
