import type {
  Cursor,
  LogicalTime,
  OpId,
  ParkReason,
  ShardId,
  ShardKey,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import type { FailureInput } from "../records/item-failure.ts";
import type { Lease } from "../records/lease.ts";
import type { ParkDetailInput } from "../records/parked-detail.ts";

export interface AcquireRequest {
  readonly tenant: TenantId;
  readonly key: ShardKey;
  readonly worker: WorkerId;
  /** Pass the same one again to get the same lease again if the first answer was lost. */
  readonly opId?: OpId;
}

/** The fields of every operation of a lease holder. */
export interface LeasedRequest {
  readonly tenant: TenantId;
  readonly lease: Lease;
}

/** An operation that the shard's log makes repeatable. Pass the same op id again to repeat it. */
export interface LoggedRequest extends LeasedRequest {
  readonly opId: OpId;
}

export interface CheckpointRequest extends LoggedRequest {
  readonly cursor: Cursor;
  /** Also move the lease's deadline. */
  readonly renew?: boolean;
  /**
   * Items up to the cursor that failed and are skipped. They are recorded in the same write as the cursor. A replay
   * records nothing again. At most `coordinator.maxFailuresPerCheckpoint` of them, each key once.
   */
  readonly failures?: readonly FailureInput[] | undefined;
}

export interface CompleteRequest extends LoggedRequest {
  readonly point: CompletionPoint;
  /** Items that failed since the last checkpoint, as for a checkpoint. */
  readonly failures?: readonly FailureInput[] | undefined;
}

export interface ParkRequest extends LoggedRequest {
  readonly reason: ParkReason;
  /** What went wrong, for operators. Stored in the same write, and removed by `unpark`. */
  readonly detail?: ParkDetailInput | undefined;
}

export interface SplitReplaceRequest extends LoggedRequest {
  readonly plan: SplitReplacePlan;
}

export interface SplitResidualRequest extends LoggedRequest {
  readonly plan: SplitResidualPlan;
}

/** The result of a checkpoint. */
export interface CheckpointResult {
  /** The lease's new deadline if the checkpoint renewed it. */
  readonly newDeadline: LogicalTime | undefined;
  readonly capacity: CapacityHint;
}

/** The result of a renewal. */
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
