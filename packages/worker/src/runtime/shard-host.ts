import type { CapacityHint, WorkerSession } from "@gossip/coordination";
import type { Item } from "../source/source.ts";
import type { RunCounts } from "./run-counts.ts";
import type { RunTiming, Settings } from "./settings.ts";
import type { WorkerEvent } from "./worker-event.ts";

/** What the work on one shard needs of whatever runs it. */
export interface ShardHost<I extends Item = Item, R = unknown> {
  readonly settings: Settings<I, R>;
  readonly timing: RunTiming;
  readonly counts: RunCounts;
  readonly emit: (event: WorkerEvent) => void;
  /** A shard's lease has a new deadline, and this is what was told of the rest of the run. */
  renewed(session: WorkerSession, capacity: CapacityHint): void;
  /** Whether the work has had the event loop to itself for long enough. Hot. */
  isSliceOver(nowMs: number): boolean;
  yieldToLoop(): Promise<void>;
}
