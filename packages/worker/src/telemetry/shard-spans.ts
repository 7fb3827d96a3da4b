import { ShardId } from "@gossip/contracts";
import { trace, type Attributes, type Span, type Tracer, type TracerProvider } from "@opentelemetry/api";
import type { WorkerEvent } from "../runtime/worker-event.ts";
import { INSTRUMENTATION } from "./worker-metrics.ts";

const OUTCOME_OF: Readonly<Partial<Record<WorkerEvent["kind"], string>>> = {
  ShardCompleted: "completed",
  ShardParked: "parked",
  ShardReleased: "released",
  LeaseLost: "lost",
};

/** One span per hold of a shard, from the claim to its end. A process holds a shard only once at a time. */
export class ShardSpans {
  readonly #tracer: Tracer;
  readonly #attributes: Attributes;
  readonly #spans = new Map<ShardId, Span>();

  constructor(provider: TracerProvider = trace.getTracerProvider(), attributes: Attributes) {
    this.#tracer = provider.getTracer(INSTRUMENTATION);
    this.#attributes = attributes;
  }

  onEvent(event: WorkerEvent): void {
    if (!("shard" in event) || event.shard === undefined) return;
    const { kind, shard } = event;
    if (kind === "ShardClaimed") {
      const { fence, isResumed } = event;
      const attributes = {
        ...this.#attributes,
        "gossip.shard": ShardId.format(shard),
        "gossip.fence": fence.toString(),
        "gossip.resumed": isResumed,
      };
      this.#spans.set(shard, this.#tracer.startSpan("gossip.shard", { attributes }));
      return;
    }
    const span = this.#spans.get(shard);
    if (span === undefined) return;
    if (kind === "ShardSplit") span.addEvent("split", { "gossip.residual": ShardId.format(event.residual) });
    if (kind === "ItemFailed")
      span.addEvent("item failed", { "gossip.attempt": event.attempt, "gossip.retry": event.willRetry });
    const outcome = OUTCOME_OF[kind];
    if (outcome === undefined || !("items" in event)) return;
    this.#spans.delete(shard);
    span.setAttributes({ "gossip.outcome": outcome, "gossip.items": event.items });
    span.end();
  }
}
