import type { RunRecord } from "@gossip/coordination";
import { Redacted } from "@gossip/stdx";
import { LeaseKeeper } from "../keeper/lease-keeper.ts";
import type { Item } from "../source/source.ts";
import { Observer } from "../telemetry/observer.ts";
import { openRun } from "./open-run.ts";
import { RunCounts } from "./run-counts.ts";
import type { RunWorkersOptions } from "./run-workers-options.ts";
import { makeSettings, makeTiming, type Settings } from "./settings.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { StopReason, WorkerSummary } from "./worker-summary.ts";

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
  const observer = new Observer(settings);
  const startMs = settings.time.nowMs();
  const run = await openRun(settings, observer.event);
  const summary =
    "kind" in run ? summarizeNothing(run, settings.time.nowMs() - startMs) : await work(settings, observer, run);
  observer.summary(summary);
  return summary;
}

async function work<I extends Item, R>(
  settings: Settings<I, R>,
  observer: Observer,
  { config }: RunRecord,
): Promise<WorkerSummary> {
  const timing = makeTiming(settings, config);
  const { keepLeases } = settings;
  const onFailure = (cause: unknown): void => observer.event({ kind: "KeeperFailed", cause: new Redacted(cause) });
  const keeper = keepLeases && (await LeaseKeeper.start({ keepLeases, leaseMs: timing.leaseMs, onFailure }));
  try {
    return await new WorkerPool(settings, { timing, observer, keeper }).run();
  } finally {
    await keeper?.close();
  }
}

function summarizeNothing(stopped: StopReason, elapsedMs: number): WorkerSummary {
  return { ...new RunCounts().snapshot({ held: 0, elapsedMs }), stopped };
}
