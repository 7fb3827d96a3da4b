import type { FenceEpoch, ParkReason, ShardId } from "@gossip/contracts";
import type { AnyCoordError, ErrorKind } from "@gossip/coordination-errors";
import type { Redacted } from "@gossip/stdx";
import type { Item } from "../sources/source.ts";

/** Why a shard was lost. */
export type LossCause =
  /** The coordinator returned this error. */
  | ErrorKind
  /** The store could not be reached before the lease expired. */
  | "Unconfirmed";

/** The fields of each kind of event. Keys are redacted; sizes and ids are not. */
interface WorkerEventFields {
  ShardClaimed: { readonly shard: ShardId; readonly fence: FenceEpoch; readonly isResumed: boolean };
  /** `items` counts since the previous checkpoint. */
  ShardCheckpointed: { readonly shard: ShardId; readonly items: number; readonly ms: number };
  ShardCompleted: { readonly shard: ShardId; readonly items: number };
  ShardParked: { readonly shard: ShardId; readonly items: number; readonly reason: ParkReason };
  ShardReleased: { readonly shard: ShardId; readonly items: number };
  /**
   * This worker no longer holds the shard: another worker took it (`isTaken`), or its lease expired. Items finished
   * since the last checkpoint are processed again.
   */
  LeaseLost: {
    readonly shard: ShardId;
    readonly items: number;
    readonly cause: LossCause;
    readonly isTaken: boolean;
  };
  ShardSplit: { readonly shard: ShardId; readonly residual: ShardId };
  /** A call of `process` failed. If `willRetry`, it is retried after `waitMs`. */
  ItemFailed: {
    readonly shard: ShardId;
    readonly attempt: number;
    readonly willRetry: boolean;
    readonly waitMs: number;
    readonly item: Redacted<Item>;
    readonly key: Redacted<Uint8Array>;
    readonly keySize: number;
    /** The thrown value. It may contain anything. */
    readonly cause: Redacted<unknown>;
  };
  /** The source reported a problem instead of an item. */
  ItemProblem: {
    readonly shard: ShardId;
    readonly key: Redacted<Uint8Array>;
    readonly keySize: number;
    readonly reason: string;
  };
  /** Reading failed. If `willRetry`, it is retried after `waitMs`. */
  SourceFailed: {
    readonly shard: ShardId;
    readonly attempt: number;
    readonly willRetry: boolean;
    readonly waitMs: number;
    readonly cause: Redacted<unknown>;
  };
  SinkFailed: { readonly shard: ShardId; readonly cause: Redacted<unknown> };
  /** A store operation failed. It is retried. */
  StoreFailed: { readonly shard: ShardId | undefined; readonly operation: string; readonly error: AnyCoordError };
  /** The store is unavailable from now on. The work waits for up to `patienceMs`. */
  StoreUnavailable: {};
  /** The store is available again. */
  StoreBack: { readonly afterMs: number };
  /** The source is unavailable from now on. Shards that need it wait for up to `patienceMs`; none is parked for it. */
  SourceUnavailable: {};
  /** The source is available again. */
  SourceBack: { readonly afterMs: number };
  /** The disk of the results is full from now on. Shards with results wait for up to `patienceMs`. */
  SinkUnavailable: {};
  /** There is room for the results again. */
  SinkBack: { readonly afterMs: number };
  /** The run is paused from now on. Items in progress finish, and their shards are released. */
  RunPaused: {};
  RunResumed: { readonly afterMs: number };
  /** Nothing can be claimed at the moment. Free workers wait for at most `ms`. */
  Waiting: { readonly freeWorkers: number; readonly ms: number };
  /** The event loop was blocked for `ms`. The main thread renewed nothing in that time. */
  LoopBlocked: { readonly ms: number };
  /** The thread that renews leases while the loop is blocked has failed. The work continues without it. */
  KeeperFailed: { readonly cause: Redacted<unknown> };
}

export type WorkerEventKind = keyof WorkerEventFields;

/** An event in the work of this process. */
export type WorkerEvent<Kind extends WorkerEventKind = WorkerEventKind> = {
  [K in Kind]: { readonly kind: K } & WorkerEventFields[K];
}[Kind];
