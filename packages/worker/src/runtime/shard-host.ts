import type { CapacityHint } from "@gossip/coordination";
import type { Item } from "../source/source.ts";
import type { RunCounts } from "./run-counts.ts";
import type { RunTiming, Settings } from "./settings.ts";
import type { WorkerEvent } from "./worker-event.ts";

/** What the work on one shard needs of whatever runs it. */
export interface ShardHost<I extends Item = Item, R = unknown> {
  readonly settings: Settings<I, R>;
  readonly timing: RunTiming;
  readonly counts: RunCounts;
  emit(event: WorkerEvent): void;
  /** Something was heard of the rest of the run. */
  heardOf(capacity: CapacityHint): void;
  /** There is more to claim than before. */
  offer(): void;
  /** Whether the work has had the event loop to itself for long enough. Hot. */
  isSliceOver(nowMs: number): boolean;
  yieldToLoop(): Promise<void>;
}
