import { OpId, WorkerId } from "@gossip/contracts";
import type { RunConfig } from "@gossip/coordination";
import { assert, assertCount } from "@gossip/stdx";
import { makeCheckpointPolicy, type CheckpointPolicy } from "../policy/checkpoint-policy.ts";
import {
  DEFAULT_DEPENDENCY_RETRY,
  DEFAULT_ITEM_RETRY,
  DEFAULT_READ_RETRY,
  makeRetrySchedule,
  type RetrySchedule,
} from "../policy/retry-schedule.ts";
import { makeSplitPolicy, type SplitPolicy } from "../policy/split-policy.ts";
import type { Item } from "../sources/source.ts";
import { SYSTEM_TIME, type WorkerTime } from "../time/worker-time.ts";
import { FailureLimit } from "./failure-limit.ts";
import { defaultWorkerName } from "./registration.ts";
import type { RunWorkersOptions } from "./run-workers-options.ts";

/** Long enough to restart a server, or to notice that one has to be restarted. */
const DEFAULT_PATIENCE_MS = 600_000;

/** The validated options of `runWorkers`, with defaults, before the run is known. */
export interface Settings<I extends Item = Item, R = unknown> extends RunWorkersOptions<I, R> {
  readonly concurrency: number;
  readonly itemConcurrency: number | (() => number);
  readonly graceMs: number;
  readonly worker: WorkerId;
  readonly name: string;
  readonly version: string;
  readonly failureLimit: FailureLimit | undefined;
  readonly itemRetry: RetrySchedule;
  readonly dependencySchedule: RetrySchedule;
  readonly sourceRetry: RetrySchedule;
  readonly patienceMs: number;
  readonly splitPolicy: SplitPolicy | undefined;
  readonly stopWhenDone: boolean;
  readonly progressEveryMs: number;
  readonly time: WorkerTime;
  readonly newOpId: () => OpId;
}

/** Settings that depend on the run's configuration. */
export interface RunTiming {
  readonly leaseMs: number;
  readonly checkpoint: CheckpointPolicy;
}

export function makeSettings<I extends Item, R>(options: RunWorkersOptions<I, R>): Settings<I, R> {
  assert(
    typeof options === "object" && options !== null,
    () => `runWorkers takes an object of options, got ${typeof options}`,
  );
  const {
    coordinator,
    source,
    process,
    concurrency = 1,
    itemConcurrency = 1,
    graceMs = 5000,
    worker = randomWorker(),
    name = defaultWorkerName(),
    version = "",
    maxFailures,
  } = options;
  const { stopWhenDone = true, progressEveryMs = 500, time = SYSTEM_TIME, patienceMs = DEFAULT_PATIENCE_MS } = options;
  assert(typeof coordinator?.claimMany === "function", "coordinator must be a Coordinator");
  assert(typeof source?.read === "function", "source must be a Source");
  assert(typeof process === "function", () => `process must be a function, got ${typeof process}`);
  assertCount(concurrency, "concurrency", { min: 1, max: 256 });
  if (typeof itemConcurrency !== "function") assertCount(itemConcurrency, "itemConcurrency", { min: 1, max: 10_000 });
  assertCount(graceMs, "graceMs", { min: 0, max: 86_400_000 });
  assertCount(progressEveryMs, "progressEveryMs", { min: 1, max: 86_400_000 });
  assertCount(patienceMs, "patienceMs", { min: 0, max: 86_400_000 });
  WorkerId.fromRaw(worker);
  assert(typeof name === "string" && typeof version === "string", "name and version of a worker must be text");
  assertOptional(options);
  makeCheckpointPolicy(options.checkpointEvery, 1);
  return {
    ...options,
    concurrency,
    itemConcurrency,
    graceMs,
    worker,
    name,
    version,
    failureLimit: maxFailures === undefined ? undefined : new FailureLimit(maxFailures),
    itemRetry: makeRetrySchedule(options.retry ?? {}, { what: "retry", defaults: DEFAULT_ITEM_RETRY }),
    dependencySchedule: makeRetrySchedule(options.dependencyRetry ?? {}, {
      what: "dependencyRetry",
      defaults: DEFAULT_DEPENDENCY_RETRY,
    }),
    sourceRetry: makeRetrySchedule(options.readRetry ?? {}, { what: "readRetry", defaults: DEFAULT_READ_RETRY }),
    splitPolicy: options.split === false ? undefined : makeSplitPolicy(options.split),
    stopWhenDone,
    patienceMs,
    progressEveryMs,
    time,
    newOpId: options.newOpId ?? (() => OpId.random()),
  };
}

function assertOptional<I extends Item, R>({
  onItemFailure,
  onProblem,
  sink,
  signal,
  keepLeases,
  itemTimeoutMs,
  classifyFailure,
}: RunWorkersOptions<I, R>): void {
  assert(
    onItemFailure === undefined || onItemFailure === "park" || onItemFailure === "skip",
    "onItemFailure must be park or skip",
  );
  assert(onProblem === undefined || onProblem === "park" || onProblem === "skip", "onProblem must be park or skip");
  assert(sink === undefined || typeof sink?.open === "function", "sink must be a Sink");
  assert(signal === undefined || typeof signal?.addEventListener === "function", "signal must be an AbortSignal");
  assert(
    keepLeases === undefined || typeof keepLeases?.module === "string" || keepLeases?.module instanceof URL,
    "keepLeases must name a module by URL or path",
  );
  if (keepLeases?.maxBlockedMs !== undefined)
    assertCount(keepLeases.maxBlockedMs, "maxBlockedMs of keepLeases", { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (itemTimeoutMs !== undefined) assertCount(itemTimeoutMs, "itemTimeoutMs", { min: 1, max: 86_400_000 });
  assert(
    classifyFailure === undefined || typeof classifyFailure === "function",
    () => `classifyFailure must be a function, got ${typeof classifyFailure}`,
  );
}

export function makeTiming(
  { checkpointEvery }: Pick<RunWorkersOptions, "checkpointEvery">,
  { leaseDuration }: RunConfig,
): RunTiming {
  const leaseMs = Number(leaseDuration);
  return {
    leaseMs,
    checkpoint: makeCheckpointPolicy(checkpointEvery, leaseMs),
  };
}

function randomWorker(): WorkerId {
  const draw = new BigUint64Array(1);
  globalThis.crypto.getRandomValues(draw);
  return WorkerId.fromRaw(draw[0]!);
}
