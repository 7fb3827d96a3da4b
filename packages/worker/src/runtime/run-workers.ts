import type { RunRecord } from "@gossip/coordination";
import { Redacted } from "@gossip/stdx";
import { inBatches } from "../batches/in-batches.ts";
import type { RunBatchesOptions } from "../batches/process-batch.ts";
import { LeaseKeeper } from "../keeper/lease-keeper.ts";
import type { Item } from "../sources/source.ts";
import { Observer } from "../telemetry/observer.ts";
import { openRun } from "./open-run.ts";
import { Outage } from "./outage.ts";
import { RunCounts } from "./run-counts.ts";
import type { RunWorkersOptions } from "./run-workers-options.ts";
import { makeSettings, makeTiming, type Settings } from "./settings.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { StopReason, WorkerSummary } from "./worker-summary.ts";

/**
 * Process every item of a run, together with the other workers of the run.
 *
 * Claims shards, reads their items after the cursor, calls `process` for each, stores progress, renews, completes, and
 * parks shards that cannot be finished. It resolves when no work is left, when `signal` fires, when the run is ended,
 * or when the store fails for too long; the summary has the reason. It rejects only on a bug in the program.
 *
 * Every item is processed at least once. Results that go to a `sink` count exactly once.
 */
export function runWorkers<I extends Item, R>(options: RunWorkersOptions<I, R>): Promise<WorkerSummary>;
/** The same for work on several items of a shard at once. */
export function runWorkers<I extends Item, R>(options: RunBatchesOptions<I, R>): Promise<WorkerSummary>;
export async function runWorkers<I extends Item, R>(
  options: RunWorkersOptions<I, R> | RunBatchesOptions<I, R>,
): Promise<WorkerSummary> {
  const isBatches = typeof options === "object" && options !== null && "processBatch" in options;
  const settings = makeSettings(isBatches ? inBatches(options) : (options as RunWorkersOptions<I, R>));
  const observer = new Observer(settings);
  const startMs = settings.time.nowMs();
  const store = storeOutage(settings, observer);
  const run = await openRun(settings, { emit: observer.event, store });
  const summary =
    "kind" in run
      ? summarizeNothing(run, settings.time.nowMs() - startMs)
      : await work(settings, { observer, store }, run);
  observer.summary(summary);
  return summary;
}

async function work<I extends Item, R>(
  settings: Settings<I, R>,
  { observer, store }: { readonly observer: Observer; readonly store: Outage },
  { config }: RunRecord,
): Promise<WorkerSummary> {
  const timing = makeTiming(settings, config);
  const { keepLeases } = settings;
  const onFailure = (cause: unknown): void => observer.event({ kind: "KeeperFailed", cause: new Redacted(cause) });
  const keeper = keepLeases && (await LeaseKeeper.start({ keepLeases, leaseMs: timing.leaseMs, onFailure }));
  try {
    return await new WorkerPool(settings, { timing, observer, keeper, store }).run();
  } finally {
    await keeper?.close();
  }
}

function storeOutage({ time }: Pick<Settings, "time">, { event }: Observer): Outage {
  return new Outage(time, {
    onStart: () => event({ kind: "StoreUnavailable" }),
    onEnd: (afterMs) => event({ kind: "StoreBack", afterMs }),
  });
}

function summarizeNothing(stopped: StopReason, elapsedMs: number): WorkerSummary {
  return {
    ...new RunCounts().snapshot({
      held: 0,
      storeDownMs: undefined,
      sourceDownMs: undefined,
      sinkDownMs: undefined,
      pausedMs: undefined,
      elapsedMs,
    }),
    stopped,
  };
}
