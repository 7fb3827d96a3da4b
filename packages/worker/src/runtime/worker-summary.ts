import type { RunStatus } from "@gossip/contracts";
import type { BackendError, GetRunError } from "@gossip/coordination-errors";
import type { Redacted } from "@gossip/stdx";

/** How the shards that this process claimed ended. */
export interface ShardCounts {
  readonly claimed: number;
  readonly completed: number;
  readonly parked: number;
  /** Released, for another worker to continue. */
  readonly released: number;
  readonly lost: number;
}

/** The progress of this process. */
export interface WorkerProgress {
  /** Items that `process` finished. An item processed twice counts twice. */
  readonly items: number;
  /** Items given up after their last retry. */
  readonly failures: number;
  readonly retries: number;
  /** Problems that the source reported. */
  readonly problems: number;
  readonly splits: number;
  readonly shards: ShardCounts;
  /** Shards in work. */
  readonly held: number;
  /** How long the store has been unavailable. `undefined` if it is available. */
  readonly storeDownMs: number | undefined;
  /** How long the source has been unavailable. `undefined` if it is available. */
  readonly sourceDownMs: number | undefined;
  /** How long there has been no room for the results. `undefined` if there is. */
  readonly sinkDownMs: number | undefined;
  /** How long the run has been paused. `undefined` if it is not. */
  readonly pausedMs: number | undefined;
  readonly elapsedMs: number;
}

/** Why the work of this process ended. */
export type StopReason =
  /** The run has no work left. Shards may have been parked. */
  | { readonly kind: "Done" }
  /** The signal fired. */
  | { readonly kind: "Aborted" }
  /** The run was ended. */
  | { readonly kind: "RunTerminal"; readonly status: RunStatus }
  /** The run does not exist, or belongs to another tenant. */
  | { readonly kind: "RunMissing"; readonly error: Exclude<GetRunError, BackendError> }
  /** The store was unreachable for too long, or its data is damaged. */
  | { readonly kind: "StoreFailed"; readonly error: BackendError }
  /** The source was unavailable for too long. The shards held were released; none was parked for it. */
  | { readonly kind: "SourceFailed"; readonly cause: Redacted<unknown> }
  /** More items failed than `maxFailures` allows. The shards held were released. */
  | { readonly kind: "TooManyFailures"; readonly failures: number }
  /** Results could not be written. */
  | { readonly kind: "SinkFailed"; readonly cause: Redacted<unknown> };

export interface WorkerSummary extends WorkerProgress {
  readonly stopped: StopReason;
}
