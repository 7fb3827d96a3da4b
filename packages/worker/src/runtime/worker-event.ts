import type { FenceEpoch, ParkReason, ShardId } from "@gossip/contracts";
import type { AnyCoordError, ErrorKind } from "@gossip/coordination-errors";
import type { Redacted } from "@gossip/stdx";

/** Why a shard was given up without having been told to the coordinator. */
export type LossCause =
  /** The coordinator said so, with this error. */
  | ErrorKind
  /** The store could not be reached until the lease had run out. */
  | "Unconfirmed";

/** What each kind of event says. One entry here is one kind. Keys are hidden; sizes and ids are not. */
interface WorkerEventFields {
  ShardClaimed: { readonly shard: ShardId; readonly fence: FenceEpoch; readonly isResumed: boolean };
  /** `items` since the checkpoint before. */
  ShardCheckpointed: { readonly shard: ShardId; readonly items: number; readonly ms: number };
  ShardCompleted: { readonly shard: ShardId; readonly items: number };
  ShardParked: { readonly shard: ShardId; readonly items: number; readonly reason: ParkReason };
  ShardReleased: { readonly shard: ShardId; readonly items: number };
  /** Another has the shard by now, or nobody. What was finished and not checkpointed is done again. */
  LeaseLost: { readonly shard: ShardId; readonly items: number; readonly cause: LossCause };
  ShardSplit: { readonly shard: ShardId; readonly residual: ShardId };
  /** A call of `process` failed. `willRetry` says whether it is tried again after `waitMs`. */
  ItemFailed: {
    readonly shard: ShardId;
    readonly attempt: number;
    readonly willRetry: boolean;
    readonly waitMs: number;
    readonly key: Redacted<Uint8Array>;
    readonly keySize: number;
    /** What was thrown. It may quote anything. */
    readonly cause: Redacted<unknown>;
  };
  /** The source could not offer what it found at a key. */
  ItemProblem: {
    readonly shard: ShardId;
    readonly key: Redacted<Uint8Array>;
    readonly keySize: number;
    readonly reason: string;
  };
  /** Reading failed; it is tried again after `waitMs`, or not at all. */
  SourceFailed: {
    readonly shard: ShardId;
    readonly attempt: number;
    readonly willRetry: boolean;
    readonly waitMs: number;
    readonly cause: Redacted<unknown>;
  };
  SinkFailed: { readonly shard: ShardId; readonly cause: Redacted<unknown> };
  /** The store did not do what it was asked. It is asked again. */
  StoreFailed: { readonly shard: ShardId | undefined; readonly operation: string; readonly error: AnyCoordError };
  /** Nothing can be claimed just now: the workers that are free wait for at most this long. */
  Waiting: { readonly freeWorkers: number; readonly ms: number };
  /** The event loop stood still for this long: nothing was renewed from here in that time. */
  LoopBlocked: { readonly ms: number };
  /** The thread that renews leases while the loop is blocked has failed. The work goes on without it. */
  KeeperFailed: { readonly cause: Redacted<unknown> };
}

export type WorkerEventKind = keyof WorkerEventFields;

/** Something that happened to the work of this process. */
export type WorkerEvent<Kind extends WorkerEventKind = WorkerEventKind> = {
  [K in Kind]: { readonly kind: K } & WorkerEventFields[K];
}[Kind];
