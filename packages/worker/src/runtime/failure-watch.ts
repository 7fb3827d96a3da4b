import type { RunCounts } from "./run-counts.ts";
import type { Settings } from "./settings.ts";

/** How often the failures of the run are counted. */
const COUNT_EVERY_MS = 2000;

export interface FailureWatchListener {
  onTooMany(failures: number): void;
  /** An invariant was broken. */
  onBug(error: unknown): void;
}

/** Compares the failures of a run with their limit: those of this process, and those that other workers recorded. */
export class FailureWatch {
  readonly #settings: Pick<Settings, "failureLimit" | "coordinator" | "run" | "time">;
  readonly #counts: RunCounts;
  readonly #listener: FailureWatchListener;
  #recorded = 0;
  #countDueMs = 0;

  constructor(
    settings: Pick<Settings, "failureLimit" | "coordinator" | "run" | "time">,
    counts: RunCounts,
    listener: FailureWatchListener,
  ) {
    this.#settings = settings;
    this.#counts = counts;
    this.#listener = listener;
  }

  check(): void {
    const { items, failures, problems } = this.#counts;
    const failed = failures + problems;
    if (this.#settings.failureLimit?.isExceeded({ items, failures: failed }, this.#recorded) === true)
      this.#listener.onTooMany(Math.max(failed, this.#recorded));
  }

  /** Count the failures of the run on record, which other workers may have added. */
  tick(nowMs: number): void {
    const { failureLimit, coordinator, run, time } = this.#settings;
    const limit = failureLimit?.countLimit;
    if (limit === undefined || nowMs < this.#countDueMs) return;
    this.#countDueMs = Infinity;
    void coordinator.countFailures({ ...run, limit }).then(
      (counted) => {
        this.#countDueMs = time.nowMs() + COUNT_EVERY_MS;
        if (counted.ok) this.#recorded = counted.value;
        this.check();
      },
      (error: unknown) => this.#listener.onBug(error),
    );
  }
}
