import type { ShardId, WorkerId } from "@gossip/contracts";
import type { LeaseEvent } from "./lease-log.ts";

/** How a worker's hold on a shard ended. */
export type SpanEnd = "completed" | "released" | "parked" | "split" | "lost" | "taken";

export interface LeaseSpan {
  readonly shard: ShardId;
  readonly fromMs: number;
  /** `undefined` while the worker holds the shard. */
  readonly toMs: number | undefined;
  readonly end: SpanEnd | undefined;
}

export interface LeaseMark {
  readonly atMs: number;
  readonly kind: "claim" | "takeover" | "loss" | "rejected";
  readonly shard: ShardId;
}

export interface WorkerTimeline {
  readonly worker: WorkerId;
  readonly spans: readonly LeaseSpan[];
  readonly marks: readonly LeaseMark[];
}

const ENDS: Readonly<Partial<Record<LeaseEvent["kind"], SpanEnd>>> = {
  ShardCompleted: "completed",
  ShardReleased: "released",
  ShardParked: "parked",
  ShardSplit: "split",
  ShardLost: "lost",
};

interface Line {
  readonly spans: LeaseSpan[];
  readonly marks: LeaseMark[];
}

/** What each worker held, and when. Spans that overlap the time from `fromMs` to `toMs` are returned whole. */
export function leaseTimeline(
  events: readonly LeaseEvent[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): WorkerTimeline[] {
  const lines = new Map<WorkerId, Line>();
  const held = new Map<ShardId, { readonly worker: WorkerId; readonly fromMs: number }>();
  const lineOf = (worker: WorkerId): Line => {
    const line = lines.get(worker) ?? { spans: [], marks: [] };
    lines.set(worker, line);
    return line;
  };
  const close = (shard: ShardId, atMs: number, end: SpanEnd): void => {
    const holding = held.get(shard);
    if (holding === undefined) return;
    held.delete(shard);
    lineOf(holding.worker).spans.push({ shard, fromMs: holding.fromMs, toMs: Math.max(atMs, holding.fromMs), end });
  };
  for (const { kind, shard, worker, atMs } of events.toSorted((a, b) => a.atMs - b.atMs)) {
    const end = ENDS[kind];
    if (kind === "ShardAcquired" || kind === "ShardTakenOver") {
      close(shard, atMs, "taken");
      if (worker === undefined) continue;
      held.set(shard, { worker, fromMs: atMs });
      lineOf(worker).marks.push({ atMs, kind: kind === "ShardAcquired" ? "claim" : "takeover", shard });
    } else if (kind === "WriterRejected") {
      if (worker !== undefined) lineOf(worker).marks.push({ atMs, kind: "rejected", shard });
    } else if (end !== undefined) {
      if (end === "lost" && worker !== undefined) lineOf(worker).marks.push({ atMs, kind: "loss", shard });
      close(shard, atMs, end);
    }
  }
  for (const [shard, { worker, fromMs: sinceMs }] of held)
    lineOf(worker).spans.push({ shard, fromMs: sinceMs, toMs: undefined, end: undefined });
  return [...lines]
    .map(([worker, { spans, marks }]) => ({
      worker,
      spans: spans.filter((span) => span.fromMs < toMs && (span.toMs ?? Infinity) >= fromMs),
      marks: marks.filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
    }))
    .filter(({ spans, marks }) => spans.length + marks.length > 0);
}
