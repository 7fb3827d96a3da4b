import type { LossCause } from "./worker-event.ts";

/** Why an item should stop. The reason of its signal. */
export type WorkStoppedKind =
  /** The process is stopping, and the item's grace period is over. */
  | "Shutdown"
  /** The run is paused. No item sees this: a pause waits for the items in progress. */
  | "Pause"
  /** Another item of the shard failed for good. */
  | "Park"
  /** The source was unavailable for too long. */
  | "SourceFailed"
  /** The run was ended. */
  | "RunEnded"
  /** Results cannot be written. */
  | "SinkFailed"
  /** This worker no longer holds the shard. `cause` has the reason. */
  | "Lost"
  /** An invariant was broken. */
  | "Bug";

const SENTENCES: Readonly<Record<WorkStoppedKind, string>> = {
  Shutdown: "the worker is stopping",
  Pause: "the run is paused",
  Park: "the shard is being parked",
  SourceFailed: "the source cannot be read",
  RunEnded: "the run was ended",
  SinkFailed: "results cannot be written",
  Lost: "the lease of the shard is lost",
  Bug: "the worker found a bug in itself",
};

/** The reason of an item's signal. */
export class WorkStopped extends Error {
  override readonly name = "WorkStopped";
  readonly kind: WorkStoppedKind;
  override readonly cause: LossCause | undefined;

  constructor(kind: WorkStoppedKind, cause?: LossCause) {
    super(SENTENCES[kind]);
    this.kind = kind;
    this.cause = cause;
  }
}
