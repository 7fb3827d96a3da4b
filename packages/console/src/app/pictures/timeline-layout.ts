import type { MarkKind, SpanEnd, Timeline, TimelineWorker } from "../data/api-types.ts";

export interface TimelineBar {
  readonly x: number;
  readonly width: number;
  /** Of the lane, from 0. Leases that overlap are in different rows. */
  readonly row: number;
  readonly shard: string;
  readonly fromMs: number;
  readonly toMs: number | undefined;
  readonly end: SpanEnd | undefined;
}

export interface TimelineLane {
  readonly worker: TimelineWorker;
  readonly rows: number;
  readonly bars: readonly TimelineBar[];
  readonly marks: readonly {
    readonly x: number;
    readonly kind: MarkKind;
    readonly shard: string;
    readonly atMs: number;
  }[];
}

/** Rows of one worker. Leases beyond them share the last row. */
const MAX_ROWS = 6;

/** One lane per worker, positions in shares of the width. What lies outside of the times is cut off. */
export function layoutTimeline({
  workers,
  fromMs,
  toMs,
}: Pick<Timeline, "workers" | "fromMs" | "toMs">): TimelineLane[] {
  const size = Math.max(1, toMs - fromMs);
  const at = (ms: number): number => Math.min(1, Math.max(0, (ms - fromMs) / size));
  return workers.map((worker) => {
    const freeAt: number[] = [];
    const spans = worker.spans.filter((span) => span.fromMs < toMs && (span.toMs ?? toMs) >= fromMs);
    const bars = spans
      .toSorted((a, b) => a.fromMs - b.fromMs)
      .map((span): TimelineBar => {
        const endMs = span.toMs ?? toMs;
        const free = freeAt.findIndex((until) => until <= span.fromMs);
        const row = Math.min(free === -1 ? freeAt.length : free, MAX_ROWS - 1);
        freeAt[row] = Math.max(freeAt[row] ?? 0, endMs);
        return {
          x: at(span.fromMs),
          width: at(endMs) - at(span.fromMs),
          row,
          shard: span.shard,
          fromMs: span.fromMs,
          toMs: span.toMs,
          end: span.end,
        };
      });
    const marks = worker.marks
      .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
      .map(({ atMs, kind, shard }) => ({ x: at(atMs), kind, shard, atMs }));
    return { worker, rows: Math.max(1, freeAt.length), bars, marks };
  });
}

/** The lane at a height in pixels, and the bar at the point, if there is one. */
export function hitTimeline(
  lanes: readonly TimelineLane[],
  { x, y }: { readonly x: number; readonly y: number },
  heightOf: (lane: TimelineLane) => number,
): { readonly lane: TimelineLane; readonly bar: TimelineBar | undefined } | undefined {
  let top = 0;
  for (const lane of lanes) {
    const height = heightOf(lane);
    if (y >= top && y < top + height) {
      const inside = lane.bars.filter((bar) => x >= bar.x && x <= bar.x + bar.width);
      return { lane, bar: inside.at(-1) };
    }
    top += height;
  }
  return undefined;
}
