import type { OpId, ParkReason, RunStatus } from "@gossip/contracts";
import type { CapacityHint, ParkDetailInput, WorkerSession } from "@gossip/coordination";
import type { AnyCoordError } from "@gossip/coordination-errors";
import type { CheckpointPolicy } from "../policy/checkpoint-policy.ts";
import type { WorkerTime } from "../time/worker-time.ts";
import type { ResultFlush } from "./patient-flush.ts";
import type { LossCause } from "./worker-event.ts";

/** Notifies the code that works on the shard. */
export interface UpkeepListener {
  onLost(cause: LossCause): void;
  onRunEnded(status: RunStatus): void;
  onSinkFailed(cause: unknown): void;
  /** Results cannot be written for lack of room. The flush is repeated. */
  onSinkFull(): void;
  /** Results were written. */
  onSinkWorked(): void;
  onStoreFailed(operation: string, error: AnyCoordError): void;
  /** A store operation succeeded, and took this long. */
  onStoreWorked(operation: string, ms: number): void;
  onCheckpoint(items: number, ms: number): void;
  /** The lease has a new deadline. The renewal was requested at `askedMs`. */
  onRenewed(askedMs: number): void;
  /** What the store last reported about the rest of the run. */
  onCapacity(capacity: CapacityHint): void;
  /** All items and their results are stored but for the write that completes the shard. */
  onCompleting(): void;
  /** Results may be written again. */
  onFlushed(): void;
  /** An invariant was broken. */
  onBug(error: unknown): void;
}

export interface UpkeepOptions {
  readonly session: WorkerSession;
  /** When the lease was requested. It may have been running since then. */
  readonly askedMs: number;
  readonly sink: ResultFlush | undefined;
  readonly policy: CheckpointPolicy;
  readonly leaseMs: number;
  readonly time: WorkerTime;
  readonly listener: UpkeepListener;
  /** How long to wait for room for the results. */
  readonly patienceMs: number;
  /** Most failures that one write records. */
  readonly maxFailures: number;
  readonly newOpId: () => OpId;
}

/** How a hold ends. */
export type Ending =
  | { readonly kind: "Complete" }
  | { readonly kind: "Park"; readonly reason: ParkReason; readonly detail: ParkDetailInput }
  | { readonly kind: "Release" };
