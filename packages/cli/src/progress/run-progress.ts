import type { RunOverview } from "../run/inspect/run-overview.ts";

/** The work as a view shows it. */
export interface RunProgressShown {
  readonly overview: RunOverview;
  readonly elapsedMs: number;
  /** Items that were done before this process began. */
  readonly itemsBefore: number;
  readonly perSecond: number | undefined;
  readonly remainingMs: number | undefined;
  /** Shards that this process works on. */
  readonly held: number;
  /** Until the first lease of somebody else ends; where this process has nothing to do but wait for that. */
  readonly waitMs: number | undefined;
  readonly isStopping: boolean;
}

/** An item that failed for the last time. */
export interface ShownFailure {
  readonly item: string;
  readonly failure: string;
  readonly stderr: string;
}

/** Where a run's progress is shown. */
export interface ProgressView {
  /** How often it wants to be told. */
  readonly everyMs: number;
  show(progress: RunProgressShown): void;
  /** The last time, where the view is one that shows how things are and does not tell what happens. */
  showEnd(progress: RunProgressShown): void;
  /** A sentence between the rest. */
  say(text: string, fields?: object): void;
  failed(failure: ShownFailure): void;
  /** What an item's command wrote, where it has no other place to go. Answers when whoever reads it has caught up, where they are behind. */
  passOn(output: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }): Promise<void> | undefined;
  close(): void;
}
