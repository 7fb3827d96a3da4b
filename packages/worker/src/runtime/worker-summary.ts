import type { RunStatus } from "@gossip/contracts";
import type { BackendError, GetRunError } from "@gossip/coordination-errors";
import type { Redacted } from "@gossip/stdx";

/** What became of the shards that this process claimed. */
export interface ShardCounts {
  readonly claimed: number;
  readonly completed: number;
  readonly parked: number;
  /** Given back, for another to go on with. */
  readonly released: number;
  readonly lost: number;
}

/** How the work of this process stands. */
export interface WorkerProgress {
  /** Items that `process` was done with. One that is done again counts again. */
  readonly items: number;
  /** Items that were given up after their last retry. */
  readonly failures: number;
  readonly retries: number;
  /** What the source found and could not offer. */
  readonly problems: number;
  readonly splits: number;
  readonly shards: ShardCounts;
  /** Shards that are being worked on. */
  readonly held: number;
  readonly elapsedMs: number;
}

/** Why the work of this process came to an end. */
export type StopReason =
  /** Nothing of the run is left to do; shards may have been parked. */
  | { readonly kind: "Done" }
  /** The signal fired. */
  | { readonly kind: "Aborted" }
  /** Somebody ended the run. */
  | { readonly kind: "RunTerminal"; readonly status: RunStatus }
  /** There is no such run, or it is another's. */
  | { readonly kind: "RunMissing"; readonly error: Exclude<GetRunError, BackendError> }
  /** The store could not be reached for too long, or what it holds is broken. */
  | { readonly kind: "StoreFailed"; readonly error: BackendError }
  /** Results could not be written. */
  | { readonly kind: "SinkFailed"; readonly cause: Redacted<unknown> };

export interface WorkerSummary extends WorkerProgress {
  readonly stopped: StopReason;
}
