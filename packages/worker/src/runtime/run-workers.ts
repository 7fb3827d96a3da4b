import type { Item } from "../source/source.ts";
import { openRun } from "./open-run.ts";
import { RunCounts } from "./run-counts.ts";
import type { RunWorkersOptions } from "./run-workers-options.ts";
import { makeSettings } from "./settings.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { WorkerSummary } from "./worker-summary.ts";

/**
 * Do something to every item of a run, together with whoever else does.
 *
 * It claims shards, reads their items behind the cursor, calls `process` for each, stores how far it has come,
 * renews, completes, and parks what cannot be done. It ends when nothing is left, when `signal` fires, when somebody
 * ended the run, or when the store is gone; the summary says which. It rejects only where the program is
 * wrong.
 *
 * Every item is processed at least once. Results that go to a `sink` count exactly once.
 */
export async function runWorkers<I extends Item, R>(options: RunWorkersOptions<I, R>): Promise<WorkerSummary> {
  const settings = makeSettings(options);
  const startMs = settings.time.nowMs();
  const run = await openRun(settings);
  if ("kind" in run) return { ...new RunCounts().snapshot({ held: 0, elapsedMs: settings.time.nowMs() - startMs }), stopped: run };
  return new WorkerPool(settings, run).run();
}
