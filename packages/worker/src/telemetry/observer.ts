import type { RunWorkersOptions } from "../runtime/run-workers-options.ts";
import type { WorkerEvent } from "../runtime/worker-event.ts";
import type { WorkerProgress, WorkerSummary } from "../runtime/worker-summary.ts";
import { logEvent, logSummary } from "./logger.ts";
import { ShardSpans } from "./shard-spans.ts";
import { WorkerMetrics } from "./worker-metrics.ts";

type Hooks = Pick<RunWorkersOptions, "onEvent" | "onProgress" | "logger">;

/**
 * Forwards events to the caller's hooks, the logger and OpenTelemetry. Exceptions thrown by any of them are ignored.
 */
export class Observer {
  readonly #hooks: Hooks;
  readonly #metrics: WorkerMetrics;
  readonly #spans: ShardSpans;

  constructor(options: Hooks & Pick<RunWorkersOptions, "telemetry"> & { readonly source: { readonly name: string } }) {
    this.#hooks = options;
    const { telemetry = {}, source } = options;
    const attributes = { "gossip.source": source.name };
    this.#metrics = new WorkerMetrics(telemetry.meterProvider, attributes);
    this.#spans = new ShardSpans(telemetry.tracerProvider, attributes);
  }

  readonly event = (event: WorkerEvent): void => {
    const { onEvent, logger } = this.#hooks;
    shielded(() => this.#metrics.onEvent(event));
    shielded(() => this.#spans.onEvent(event));
    if (logger !== undefined) shielded(() => logEvent(logger, event));
    if (onEvent !== undefined) shielded(() => onEvent(event));
  };

  /** A store operation succeeded, and took this long. */
  storeCall(operation: string, ms: number): void {
    shielded(() => this.#metrics.onStoreCall(operation, ms));
  }

  progress(progress: WorkerProgress): void {
    shielded(() => this.#metrics.report(progress));
    shielded(() => this.#hooks.onProgress?.(progress));
  }

  summary(summary: WorkerSummary): void {
    const { logger } = this.#hooks;
    if (logger !== undefined) shielded(() => logSummary(logger, summary));
  }
}

function shielded(call: () => unknown): void {
  try {
    const answer = call();
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // Observers must not affect the work.
  }
}
