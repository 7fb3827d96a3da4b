import type { WorkerId } from "@gossip/contracts";
import type { Coordinator, RunRequest } from "@gossip/coordination";
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import type { KeepLeases } from "../keeper/keep-leases.ts";
import type { RetryInput } from "../policy/retry-policy.ts";
import type { SplitInput } from "../policy/split-policy.ts";
import type { Sink } from "../sinks/sink.ts";
import type { Item, Source } from "../source/source.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { WorkerTime } from "../time/worker-time.ts";
import type { Process } from "./item-context.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { WorkerProgress } from "./worker-summary.ts";

/** When progress is stored: after so many items or so many milliseconds, whichever is first. */
export interface CheckpointEvery {
  readonly items?: number;
  readonly ms?: number;
}

export interface RunWorkersOptions<I extends Item = Item, R = unknown> {
  readonly coordinator: Coordinator;
  /** The tenant and the id of a run that `startRun` started, here or elsewhere. */
  readonly run: RunRequest;
  readonly source: Source<I>;
  readonly process: Process<I, R>;
  /** Shards that this process works on at the same time, 1 to 256; 1 where it is left out. */
  readonly concurrency?: number;
  /** Items of one shard at the same time, 1 to 10,000; 1 where it is left out. */
  readonly itemConcurrency?: number;
  /** Stop, and give back what is held. */
  readonly signal?: AbortSignal;
  /** How long items may go on after `signal` fired, before theirs fires; 5 seconds where it is left out. */
  readonly graceMs?: number;
  /** Who this process is; drawn at random where it is left out. No two processes may share one. */
  readonly worker?: WorkerId;
  // What items are, the source says; what results are, `process` does.
  readonly sink?: Sink<NoInfer<I>, NoInfer<R>>;
  /** 10,000 items or one second where it is left out. */
  readonly checkpointEvery?: CheckpointEvery;
  /** How an item is tried again whose `process` failed. A `RetryAfter` makes the pause longer, up to `maxMs`. */
  readonly retry?: RetryInput;
  /** How a shard is read again whose source failed, `RetryAfter` likewise. */
  readonly readRetry?: RetryInput;
  /** What to do about an item that failed for the last time: park its shard (the default), or go on without it. */
  readonly onItemFailure?: "park" | "skip";
  /** What to do about something that the source cannot offer: tell of it and go on (the default), or park the shard. */
  readonly onProblem?: "park" | "skip";
  /** When a shard is split for workers that have nothing to do; `false` for never. */
  readonly split?: SplitInput | false;
  /** Whether to end when nothing of the run is left (the default), or to wait for more. */
  readonly stopWhenDone?: boolean;
  /** Renew leases from a thread, so that a handler that blocks the loop keeps its shards. Not possible over `MemoryStore`. */
  readonly keepLeases?: KeepLeases;
  /** How long the store may fail before the work ends; the length of a lease where it is left out. */
  readonly storePatienceMs?: number;
  readonly onProgress?: (progress: WorkerProgress) => void;
  /** How often `onProgress` is called; every 500 milliseconds where it is left out. */
  readonly progressEveryMs?: number;
  /** Called in passing: what it throws is dropped. */
  readonly onEvent?: (event: WorkerEvent) => void;
  readonly logger?: Logger;
  readonly telemetry?: Telemetry;
  readonly time?: WorkerTime;
}

/** Where metrics and spans go. The globally registered providers, for what is left out. */
export interface Telemetry {
  readonly meterProvider?: MeterProvider;
  readonly tracerProvider?: TracerProvider;
}
