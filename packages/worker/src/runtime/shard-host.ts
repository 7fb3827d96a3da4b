import type { CapacityHint, WorkerSession } from "@gossip/coordination";
import type { FleetLimiter } from "../limits/fleet-limiter.ts";
import type { Item } from "../sources/source.ts";
import type { CrashGate } from "./crash-gate.ts";
import type { Outage } from "./outage.ts";
import type { RunCounts } from "./run-counts.ts";
import type { RunTiming, Settings } from "./settings.ts";
import type { WorkerEvent } from "./worker-event.ts";

/** What a shard runner needs from the pool. */
export interface ShardHost<I extends Item = Item, R = unknown> {
  readonly settings: Settings<I, R>;
  readonly timing: RunTiming;
  readonly counts: RunCounts;
  readonly emit: (event: WorkerEvent) => void;
  /** The store and the source, as far as any shard of this process has found them available. */
  readonly store: Outage;
  readonly source: Outage;
  /** The place of the results, which is unavailable while its disk is full. */
  readonly sink: Outage;
  /** A store operation succeeded, and took this long. */
  storeWorked(operation: string, ms: number): void;
  /** A shard's lease has a new deadline. The renewal was requested at `askedMs`. */
  renewed(session: WorkerSession, askedMs: number): void;
  /** What the store last reported about the rest of the run. */
  onCapacity(capacity: CapacityHint): void;
  /** Nothing of a shard is left to do but the write that completes it. */
  completing(session: WorkerSession): void;
  /** Lets a shard that is suspected of killing its process run alone. */
  readonly gate: CrashGate;
  /** Keeps the items of all shards within the limits of the run. */
  readonly limiter: Pick<FleetLimiter, "mayStart" | "mayRetry" | "took" | "hold">;
  /** Called before every call of `process`, if anything needs to know. */
  readonly onItemStart: ((key: Uint8Array) => void) | undefined;
  /** Whether the work has had the event loop to itself for long enough. Hot. */
  isSliceOver(nowMs: number): boolean;
  yieldToLoop(): Promise<void>;
}
