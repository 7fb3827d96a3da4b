import {
  metrics,
  type Attributes,
  type Counter,
  type Histogram,
  type MeterProvider,
  type UpDownCounter,
} from "@opentelemetry/api";
import type { WorkerEvent } from "../runtime/worker-event.ts";
import type { WorkerProgress } from "../runtime/worker-summary.ts";

/** Names the instruments and spans of this package. */
export const INSTRUMENTATION = "@gossip/worker";

const NOTHING = {
  items: 0,
  failures: 0,
  retries: 0,
  problems: 0,
  splits: 0,
  claimed: 0,
  completed: 0,
  parked: 0,
  released: 0,
  lost: 0,
  held: 0,
};

type Counted = typeof NOTHING;

const OUTCOMES = ["completed", "parked", "released", "lost"] as const satisfies readonly (keyof Counted)[];
const PLAIN = ["items", "failures", "retries", "problems", "splits"] as const satisfies readonly (keyof Counted)[];

const UNITS = {
  items: "{item}",
  failures: "{item}",
  retries: "{attempt}",
  problems: "{item}",
  splits: "{shard}",
} as const;

/** This process's counters as OpenTelemetry metrics. They are reported periodically, so that an item costs nothing. */
export class WorkerMetrics {
  readonly #attributes: Attributes;
  readonly #counters: Readonly<Record<(typeof PLAIN)[number], Counter>>;
  readonly #shards: Counter;
  readonly #held: UpDownCounter;
  readonly #checkpointMs: Histogram;
  readonly #storeMs: Histogram;
  readonly #storeDown: UpDownCounter;
  readonly #sourceDown: UpDownCounter;
  readonly #blockedMs: Histogram;
  #reported: Counted = NOTHING;

  constructor(provider: MeterProvider = metrics.getMeterProvider(), attributes: Attributes) {
    const meter = provider.getMeter(INSTRUMENTATION);
    const counter = (name: (typeof PLAIN)[number]): Counter =>
      meter.createCounter(`gossip.worker.${name}`, { unit: UNITS[name] });
    this.#attributes = attributes;
    this.#counters = {
      items: counter("items"),
      failures: counter("failures"),
      retries: counter("retries"),
      problems: counter("problems"),
      splits: counter("splits"),
    };
    this.#shards = meter.createCounter("gossip.worker.shards", {
      unit: "{shard}",
      description: "Shards whose hold ended, by outcome.",
    });
    this.#held = meter.createUpDownCounter("gossip.worker.held", {
      unit: "{shard}",
      description: "Shards in work.",
    });
    this.#checkpointMs = meter.createHistogram("gossip.worker.checkpoint.duration", { unit: "ms" });
    this.#storeMs = meter.createHistogram("gossip.worker.store.duration", {
      unit: "ms",
      description: "How long successful store operations took, by operation.",
    });
    this.#storeDown = meter.createUpDownCounter("gossip.worker.store.unavailable", {
      description: "1 while the store is unavailable, otherwise 0.",
    });
    this.#sourceDown = meter.createUpDownCounter("gossip.worker.source.unavailable", {
      description: "1 while the source is unavailable, otherwise 0.",
    });
    this.#blockedMs = meter.createHistogram("gossip.worker.loop.blocked", {
      unit: "ms",
      description: "How long the event loop was blocked.",
    });
  }

  onEvent(event: WorkerEvent): void {
    if (event.kind === "ShardCheckpointed") this.#checkpointMs.record(event.ms, this.#attributes);
    if (event.kind === "StoreUnavailable") this.#storeDown.add(1, this.#attributes);
    if (event.kind === "StoreBack") this.#storeDown.add(-1, this.#attributes);
    if (event.kind === "SourceUnavailable") this.#sourceDown.add(1, this.#attributes);
    if (event.kind === "SourceBack") this.#sourceDown.add(-1, this.#attributes);
    if (event.kind === "LoopBlocked") this.#blockedMs.record(event.ms, this.#attributes);
  }

  onStoreCall(operation: string, ms: number): void {
    this.#storeMs.record(ms, { ...this.#attributes, "gossip.operation": operation });
  }

  /** Report the counts since the last call. */
  report({ shards, held, items, failures, retries, problems, splits }: WorkerProgress): void {
    const now: Counted = { items, failures, retries, problems, splits, held, ...shards };
    const before = this.#reported;
    this.#reported = now;
    for (const name of PLAIN) {
      if (now[name] > before[name]) this.#counters[name].add(now[name] - before[name], this.#attributes);
    }
    for (const outcome of OUTCOMES) {
      if (now[outcome] > before[outcome])
        this.#shards.add(now[outcome] - before[outcome], { ...this.#attributes, "gossip.outcome": outcome });
    }
    if (now.held !== before.held) this.#held.add(now.held - before.held, this.#attributes);
  }
}
