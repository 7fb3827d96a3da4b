import {
  MAX_SPLIT_CHILDREN,
  ParkReason,
  type Cursor,
  type LogicalTime,
  type OpId,
  type ShardId,
  type ShardKey,
  type SplitReplacePlan,
  type SplitResidualPlan,
  type TenantId,
  type WorkerId,
} from "@gossip/contracts";
import type { ParkError, ReleaseError, RenewError, SplitError } from "@gossip/coordination-errors";
import { assert } from "@gossip/stdx";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import { kernel } from "../kernel/kernel.ts";
import type { RenewOutcome } from "../kernel/renew.ts";
import type { SplitReplaceOutcome } from "../kernel/split-replace.ts";
import type { SplitResidualOutcome } from "../kernel/split-residual.ts";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import { findOp } from "../records/op-log.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { ShardOperation } from "./shard-operation.ts";
import { refuseSplit } from "./write-refusals.ts";

export interface AcquireRequest {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly worker: WorkerId;
  /** Give the same one again to get the same lease again, where the answer to the first was lost. */
  readonly opId?: OpId;
}

/** What every operation of a lease's holder says first. */
export interface LeasedRequest {
  readonly tenant: TenantId;
  readonly lease: Lease;
}

/** An operation that its log makes repeatable. Give the same op id again to repeat it. */
export interface LoggedRequest extends LeasedRequest {
  readonly opId: OpId;
}

export interface CheckpointRequest extends LoggedRequest {
  readonly cursor: Cursor;
  /** Also move the lease's deadline. */
  readonly renew?: boolean;
}

export interface CompleteRequest extends LoggedRequest {
  readonly point: CompletionPoint;
}

export interface ParkRequest extends LoggedRequest {
  readonly reason: ParkReason;
}

export interface SplitReplaceRequest extends LoggedRequest {
  readonly plan: SplitReplacePlan;
}

export interface SplitResidualRequest extends LoggedRequest {
  readonly plan: SplitResidualPlan;
}

/** What a checkpoint answers. */
export interface CheckpointResult {
  /** The lease's new deadline, where the checkpoint renewed it. */
  readonly newDeadline: LogicalTime | undefined;
  readonly capacity: CapacityHint;
}

/** What a renewal answers. */
export interface RenewResult {
  readonly newDeadline: LogicalTime;
  readonly capacity: CapacityHint;
}

export interface SplitReplaceResult {
  /** By range start. */
  readonly children: readonly ShardId[];
}

export interface SplitResidualResult {
  readonly residual: ShardId;
}

/**
 * The operations on a shard as the engine carries them out: the kernel's decision and its place in the store. Those of which there are many,
 * acquires, checkpoints and completions, are classes, each in a file of its own.
 */
export const shardOperations = {
  renew(request: LeasedRequest): ShardOperation<RenewOutcome, RenewError> {
    const { tenant, lease } = request;
    return {
      name: "renew",
      tenant,
      key: Lease.shardKey(lease),
      wantsHint: true,
      decide: (loaded, now) => kernel.renew(loaded, request, now),
    };
  },

  park(request: ParkRequest): ShardOperation<IdempotentOutcome<ShardRecord>, ParkError> {
    assert(ParkReason.is(request.reason), "park reason must be one of ParkReason.values");
    return {
      ...placeOf(request),
      name: "park",
      wantsHint: false,
      decide: (loaded, now) => kernel.park(loaded, request, now),
    };
  },

  release(request: LoggedRequest): ShardOperation<IdempotentOutcome<ShardRecord>, ReleaseError> {
    return {
      ...placeOf(request),
      name: "release",
      wantsHint: false,
      decide: (loaded, now) => kernel.release(loaded, request, now),
    };
  },

  splitReplace(
    request: SplitReplaceRequest,
    maxChildren: number,
  ): ShardOperation<IdempotentOutcome<SplitReplaceOutcome>, SplitError> {
    const count = request.plan?.children?.length;
    assert(
      count >= 2 && count <= MAX_SPLIT_CHILDREN,
      () => `a split-replace plan must have 2 to ${MAX_SPLIT_CHILDREN} children, got ${count}`,
    );
    const command = { ...request, maxChildren };
    const decide = (loaded: Parameters<typeof kernel.splitReplace>[0], now: LogicalTime) =>
      kernel.splitReplace(loaded, command, now);
    return { ...placeOf(request), name: "split", wantsHint: false, decide, refuse: refuseSplit };
  },

  splitResidual(request: SplitResidualRequest): ShardOperation<IdempotentOutcome<SplitResidualOutcome>, SplitError> {
    const { opId } = request;
    return {
      ...placeOf(request),
      name: "split",
      wantsHint: false,
      decide: ({ run, shard, other }, now) => kernel.splitResidual({ run, shard, residual: other }, request, now),
      // Once the log has forgotten a split, the shard that it made is all there is to compare a repetition with.
      needs: (shard) => {
        const residual = findOp(shard.opLog, opId) === undefined ? kernel.findSpawnedResidual(shard, opId) : undefined;
        return residual === undefined ? undefined : { run: shard.run, shard: residual };
      },
      refuse: refuseSplit,
    };
  },
};

function placeOf({ tenant, lease }: LeasedRequest): { readonly tenant: TenantId; readonly key: ShardKey } {
  return { tenant, key: Lease.shardKey(lease) };
}
