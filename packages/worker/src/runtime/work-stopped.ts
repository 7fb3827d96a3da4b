import type { LossCause } from "./worker-event.ts";

/** Why going on with an item is of no use: what its signal fires with. */
export type WorkStoppedKind =
  /** The process was told to stop, and the item has had its time. */
  | "Shutdown"
  /** Another item of the shard cannot be done. */
  | "Park"
  /** Somebody ended the run. */
  | "RunEnded"
  /** Results cannot be written. */
  | "SinkFailed"
  /** The shard is another's by now, or nobody's; `cause` says how that was found out. */
  | "Lost"
  /** The program is wrong. */
  | "Bug";

const SENTENCES: Readonly<Record<WorkStoppedKind, string>> = {
  Shutdown: "the worker was told to stop",
  Park: "the shard is being parked",
  RunEnded: "the run was ended",
  SinkFailed: "results cannot be written",
  Lost: "the lease of the shard is lost",
  Bug: "the worker met with a mistake of its own",
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
