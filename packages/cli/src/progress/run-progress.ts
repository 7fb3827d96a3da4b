import type { RunOverview } from "../run/inspect/run-overview.ts";
import type { DoneItems } from "../run/inspect/sample-text.ts";
import type { Outage } from "./own-work.ts";

/** The progress that a view shows. */
export interface RunProgressShown {
  readonly overview: RunOverview;
  readonly elapsedMs: number;
  /** Items that were done before this process started. */
  readonly before: DoneItems;
  /** The share of the items that is done, from 0 to 1. `undefined` while too little is known about the rest. */
  readonly fraction: number | undefined;
  readonly perSecond: number | undefined;
  /** `undefined` if it cannot be predicted. */
  readonly remainingMs: number | undefined;
  /** Shards that this process works on. */
  readonly held: number;
  /** Time until the first lease of another worker ends, if this process is only waiting for that. */
  readonly waitMs: number | undefined;
  /** What the run waits for, and since when. */
  readonly outage: { readonly what: Outage["what"]; readonly since: Date; readonly forMs: number } | undefined;
  readonly isStopping: boolean;
}

/** An item that failed for the last time. */
export interface ShownFailure {
  readonly item: string;
  readonly failure: string;
  readonly stderr: string;
}

/** Shows the progress of a run. */
export interface ProgressView {
  /** How often to call `show`. */
  readonly everyMs: number;
  show(progress: RunProgressShown): void;
  /** Show the final state, for views that show a state rather than events. */
  showEnd(progress: RunProgressShown): void;
  /** Print a message. */
  say(text: string, fields?: object): void;
  failed(failure: ShownFailure): void;
  /**
   * Print an item's output if it has no other destination. If the reader is behind, returns a promise that resolves
   * when it has caught up.
   */
  passOn(output: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined;
  close(): void;
}
