import type { WorkerProgress } from "./worker-summary.ts";

type WorkNow = Pick<WorkerProgress, "held" | "storeDownMs" | "sourceDownMs" | "sinkDownMs" | "pausedMs" | "elapsedMs">;

/** Counters of this process's work so far. */
export class RunCounts {
  items = 0;
  failures = 0;
  retries = 0;
  problems = 0;
  splits = 0;
  claimed = 0;
  completed = 0;
  parked = 0;
  released = 0;
  lost = 0;
  /** How long the shards that this process no longer holds were held, and the items that it finished in them. */
  earlierHoldMs = 0;
  earlierItems = 0;

  /** What an item of the earlier shards took, if there were any. */
  get earlierMs(): number | undefined {
    return this.earlierItems === 0 ? undefined : this.earlierHoldMs / this.earlierItems;
  }

  /** The counters together with the state of the work. */
  snapshot(now: WorkNow): WorkerProgress {
    const { items, failures, retries, problems, splits, claimed, completed, parked, released, lost } = this;
    return {
      items,
      failures,
      retries,
      problems,
      splits,
      shards: { claimed, completed, parked, released, lost },
      ...now,
    };
  }
}
