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
