import type { OpId, WorkerId } from "@gossip/contracts";
import type { CoordinatorApi, RunRequest } from "@gossip/coordination";
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import type { KeepLeases } from "../keeper/keep-leases.ts";
import type { ClassifyFailure } from "../policy/failure-class.ts";
import type { BackoffInput, RetryInput } from "../policy/retry-schedule.ts";
import type { SplitInput } from "../policy/split-policy.ts";
import type { Sink } from "../sinks/sink.ts";
import type { Item, Source } from "../sources/source.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { WorkerTime } from "../time/worker-time.ts";
import type { MaxFailures } from "./failure-limit.ts";
import type { Process } from "./item-context.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { WorkerProgress } from "./worker-summary.ts";

/** When to store progress: after so many items or so many milliseconds, whichever comes first. */
export interface CheckpointEvery {
  readonly items?: number;
  readonly ms?: number;
}

export interface RunWorkersOptions<I extends Item = Item, R = unknown> {
  readonly coordinator: CoordinatorApi;
  /** The tenant and id of a run that `startRun` started, in this process or another. */
  readonly run: RunRequest;
  readonly source: Source<I>;
  readonly process: Process<I, R>;
  /** Shards that this process works on at the same time, 1 to 256. Default: 1. */
  readonly concurrency?: number;
  /**
   * Items of one shard that run at the same time, 1 to 10,000. Default: 1. A function is called before every item and
   * returns how many may run now, for work that finds out only while it runs.
   */
  readonly itemConcurrency?: number | (() => number);
  /** Stops the work and releases the shards held. */
  readonly signal?: AbortSignal;
  /** How long items may continue after `signal` fires, before their own signal fires. Default: 5 seconds. */
  readonly graceMs?: number;
  /** The id of this process. No two processes may share one. Default: random. */
  readonly worker?: WorkerId;
  /** The name of this process in the registry of workers and in the failure ledger. Default: host and process id. */
  readonly name?: string;
  /** The version of the program, for the registry of workers. Default: empty. */
  readonly version?: string;
  // The item type comes from the source, the result type from `process`.
  readonly sink?: Sink<NoInfer<I>, NoInfer<R>>;
  /** Default: 10,000 items or one second. */
  readonly checkpointEvery?: CheckpointEvery;
  /** How to retry an item whose `process` failed. */
  readonly retry?: RetryInput;
  /**
   * How long to wait before an item is retried that failed because a dependency is unavailable, such as a service that
   * refuses connections. It is retried until `patienceMs` is over. A `RetryAfter` makes the pause longer, up to `maxMs`.
   */
  readonly dependencyRetry?: BackoffInput;
  /** Decides whether an error is the item's fault or a dependency's. Default, and if it returns `undefined`: by the error's code, status and name. */
  readonly classifyFailure?: ClassifyFailure;
  /**
   * How long one call of `process` may take. Then the item's signal fires, and a second later at most the item fails,
   * even if the function ignores the signal. A function that blocks the event loop cannot be interrupted. Default: no
   * limit.
   */
  readonly itemTimeoutMs?: number;
  /** How to retry a shard whose source failed. Honors `RetryAfter` too. */
  readonly readRetry?: RetryInput;
  /** What to do when an item fails for the last time: park its shard (the default) or skip the item. */
  readonly onItemFailure?: "park" | "skip";
  /**
   * Ends the work with `TooManyFailures` if more items than this failed: a number, counted over the whole run, or a
   * share of the items that this process tried, such as `"5%"`. Default: no limit.
   */
  readonly maxFailures?: MaxFailures;
  /** What to do when the source reports a problem: report it and continue (the default), or park the shard. */
  readonly onProblem?: "park" | "skip";
  /** When to split a shard for idle workers. `false` disables splits. */
  readonly split?: SplitInput | false;
  /** Whether to end when the run has no work left (the default) or to wait for more. */
  readonly stopWhenDone?: boolean;
  /**
   * Renew leases from a thread, so that a handler that blocks the event loop keeps its shards. Impossible with
   * `MemoryStore`.
   */
  readonly keepLeases?: KeepLeases;
  /**
   * How long to wait for something that is unavailable: the store, or a dependency of an item. Default: 10 minutes.
   */
  readonly patienceMs?: number;
  readonly onProgress?: (progress: WorkerProgress) => void;
  /** How often `onProgress` is called. Default: every 500 milliseconds. */
  readonly progressEveryMs?: number;
  /** Called synchronously. Exceptions that it throws are ignored. */
  readonly onEvent?: (event: WorkerEvent) => void;
  readonly logger?: Logger;
  readonly telemetry?: Telemetry;
  readonly time?: WorkerTime;
  /** Returns the op id of the next write. For simulations that must repeat exactly. Default: random. */
  readonly newOpId?: () => OpId;
}

/** Where metrics and spans go. Default: the globally registered providers. */
export interface Telemetry {
  readonly meterProvider?: MeterProvider;
  readonly tracerProvider?: TracerProvider;
}
