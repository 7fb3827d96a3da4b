import type { FenceEpoch, OpId, ParkReason, ShardId, WorkerId } from "@gossip/contracts";
import type { OpKind } from "@gossip/coordination";

export type RunChangeKind =
  | "ShardAcquired"
  | "ShardTakenOver"
  | "ShardLost"
  | "ShardCompleted"
  | "ShardParked"
  | "ShardUnparked"
  | "ShardReleased"
  | "ShardSplit"
  | "ShardResidualCreated"
  | "WriterRejected";

/** Something that happened to a shard, as two looks at its record show it. */
export interface RunChange {
  readonly kind: RunChangeKind;
  readonly atMs: number;
  readonly shard: ShardId;
  /** The worker that it happened to: for a takeover the new holder, for a loss the old one. */
  readonly worker?: WorkerId | undefined;
  readonly fence?: FenceEpoch | undefined;
  readonly reason?: ParkReason | undefined;
  readonly children?: readonly ShardId[] | undefined;
  readonly opId?: OpId | undefined;
}

/** What an operation in a shard's log is reported as. Checkpoints are too many to report one by one. */
export const CHANGE_OF_OP: Readonly<Record<OpKind, RunChangeKind | undefined>> = {
  Checkpoint: undefined,
  Complete: "ShardCompleted",
  Park: "ShardParked",
  SplitReplace: "ShardSplit",
  SplitResidual: "ShardResidualCreated",
  Unpark: "ShardUnparked",
  Release: "ShardReleased",
};
