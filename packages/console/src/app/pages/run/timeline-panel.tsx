import { useCallback, useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import type { MarkKind, Timeline } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { plural } from "../../format/numbers.ts";
import { formatClock, formatDuration } from "../../format/times.ts";
import { shortId, workerTitle } from "../../format/titles.ts";
import { DataTable, Empty, Loaded, Panel, ShardLink } from "../../parts/parts.tsx";
import type { Colors } from "../../pictures/colors.ts";
import { AXIS_HEIGHT, drawPointer, drawTimeAxis, drawTimeline, laneHeight } from "../../pictures/draw.ts";
import { Picture, type Point, type Size } from "../../pictures/picture.tsx";
import { hitTimeline, layoutTimeline, type TimelineLane } from "../../pictures/timeline-layout.ts";
import type { RunPanelProps } from "./run-panel.ts";

const SPANS: readonly (readonly [ms: number, name: string])[] = [
  [60_000, "1 min"],
  [600_000, "10 min"],
  [3_600_000, "1 h"],
  [21_600_000, "6 h"],
];
/** Workers that the picture shows. The table has all of them. */
const MAX_LANES = 24;
/** The times of the request, rounded, so that the same second is asked for once. */
const ROUND_MS = 1_000;

/** Who held what and when: claims, losses, takeovers and refused writers. */
export function TimelinePanel(props: RunPanelProps) {
  const { run, tenant, detail } = props;
  const [spanMs, setSpanMs] = useState(600_000);
  const endMs = detail.completedAtMs;
  // Without an end the server takes the time of the request.
  const timeline = useResource<Timeline>(
    `console/runs/${run}/timeline`,
    { tenant, fromMs: useStart(spanMs, detail), toMs: endMs === undefined ? undefined : endMs + 1 },
    { run, of: `${run}/${spanMs}`, everyMs: 2_000 },
  );
  return (
    <Panel
      title="Leases"
      note={
        <span class="segments" role="group" aria-label="Time shown">
          {SPANS.map(([span, name]) => (
            <button type="button" key={span} aria-pressed={span === spanMs} onClick={() => setSpanMs(span)}>
              {name}
            </button>
          ))}
        </span>
      }
    >
      <Loaded resource={timeline} what="The leases">
        {(data) =>
          data.workers.length === 0 ? (
            <Empty title="No leases in this time" />
          ) : (
            <TimelinePicture timeline={data} run={run} />
          )
        }
      </Loaded>
    </Panel>
  );
}

/**
 * The start of the time that is shown, never before the run began. It moves in steps, so that the picture does not slide
 * all the time.
 */
function useStart(spanMs: number, { createdAtMs, completedAtMs }: RunPanelProps["detail"]): number {
  const stepMs = Math.max(ROUND_MS, spanMs / 20);
  const nowMs = useApp().nowMs.value;
  return Math.max(createdAtMs, Math.floor(((completedAtMs ?? nowMs) - spanMs) / stepMs) * stepMs);
}

function TimelinePicture({ timeline, run }: { readonly timeline: Timeline; readonly run: string }) {
  const nowMs = useApp().nowMs.value;
  const [point, setPoint] = useState<Point>();
  const lanes = layoutTimeline({ ...timeline, workers: timeline.workers.slice(0, MAX_LANES) });
  const height = lanes.reduce((sum, lane) => sum + laneHeight(lane), 0) + AXIS_HEIGHT;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: Size, colors: Colors) => {
      drawTimeAxis(context, size, colors, timeline);
      drawTimeline(context, size, colors, lanes, laneTitle);
      const area = { width: size.width, height: size.height - AXIS_HEIGHT };
      if (point !== undefined) drawPointer(context, area, colors, point);
    },
    [timeline, point?.x, point?.y],
  );
  const hit = point && hitTimeline(lanes, { x: point.x, y: point.y * height }, laneHeight);
  return (
    <>
      <Picture
        label={`Leases of ${plural(timeline.workers.length, "worker")} over ${formatDuration(timeline.toMs - timeline.fromMs)}.`}
        keys="Arrow keys move the pointer."
        height={height}
        draw={draw}
        point={point}
        onPoint={setPoint}
      />
      <div class="below">
        <p class="readout" aria-live="polite">
          {hit === undefined ? (
            "Point at a bar to see the shard and how the lease ended."
          ) : (
            <>
              <strong>{laneTitle(hit.lane)}</strong>
              {hit.bar === undefined
                ? " · no lease here"
                : ` · shard ${shortId(hit.bar.shard)} · ${formatClock(hit.bar.fromMs, nowMs)} to ${hit.bar.toMs === undefined ? "now" : formatClock(hit.bar.toMs, nowMs)} · ${END_NAMES[hit.bar.end ?? "held"]}`}
            </>
          )}
        </p>
        <MarkLegend />
      </div>
      {timeline.isTruncated && <p class="muted">There are more leases than fit. Choose a shorter time.</p>}
      <TimelineTable timeline={timeline} run={run} />
    </>
  );
}

function laneTitle({ worker }: TimelineLane): string {
  return `${workerTitle(worker)}${worker.isLive ? "" : " (gone)"}`;
}

const END_NAMES: Readonly<Record<string, string>> = {
  held: "held now",
  completed: "completed",
  released: "given back",
  parked: "parked",
  split: "split",
  lost: "lost",
  taken: "taken over",
};

const MARK_NAMES: Readonly<Record<MarkKind, string>> = {
  claim: "claimed",
  takeover: "took over",
  loss: "lost the lease",
  rejected: "late write refused",
};

function MarkLegend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="swatch square" data-state="leased" /> held
      </li>
      <li>
        <span class="swatch square" data-state="done" /> completed
      </li>
      <li>
        <span class="swatch square" data-state="failed" /> lost or taken over
      </li>
      <li>
        <b aria-hidden="true">▲</b> takeover
      </li>
      <li>
        <b aria-hidden="true">✕</b> loss
      </li>
      <li>
        <b aria-hidden="true">⊠</b> late write refused
      </li>
    </ul>
  );
}

const TABLE_ROWS = 200;

function TimelineTable({ timeline, run }: { readonly timeline: Timeline; readonly run: string }) {
  const nowMs = useApp().nowMs.value;
  const rows = timeline.workers
    .flatMap((worker) => [
      ...worker.spans.map((span) => ({
        worker,
        shard: span.shard,
        atMs: span.fromMs,
        toMs: span.toMs,
        what: END_NAMES[span.end ?? "held"],
      })),
      ...worker.marks
        .filter(({ kind }) => kind !== "claim")
        .map((mark) => ({ worker, shard: mark.shard, atMs: mark.atMs, toMs: mark.atMs, what: MARK_NAMES[mark.kind] })),
    ])
    .sort((a, b) => b.atMs - a.atMs);
  const shown = rows.slice(0, TABLE_ROWS);
  return (
    <DataTable summary={`Table: the newest ${shown.length} of ${rows.length} entries`}>
      <thead>
        <tr>
          <th scope="col">Worker</th>
          <th scope="col">Shard</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">What</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ worker, shard, atMs, toMs, what }) => (
          <tr key={`${worker.worker}/${shard}/${atMs}/${what}`}>
            <th scope="row">{workerTitle(worker)}</th>
            <td>
              <ShardLink run={run} shard={shard} />
            </td>
            <td class="nowrap">{formatClock(atMs, nowMs)}</td>
            <td class="nowrap">{toMs === undefined ? "now" : formatClock(toMs, nowMs)}</td>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}
