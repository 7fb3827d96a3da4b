import { useCallback, useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import type { History } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { formatCount, formatRate } from "../../format/numbers.ts";
import { formatClock, formatDuration } from "../../format/times.ts";
import { DataTable, Empty, Loaded, Panel } from "../../parts/parts.tsx";
import type { Colors } from "../../pictures/colors.ts";
import { AXIS_HEIGHT, drawPointer, drawSeries, drawTimeAxis } from "../../pictures/draw.ts";
import { Picture, type Point, type Size } from "../../pictures/picture.tsx";
import { layoutSeries, ratesOf, thinOut } from "../../pictures/series-layout.ts";
import type { RunPanelProps } from "./run-panel.ts";

const STEPS: readonly (readonly [stepMs: number, name: string])[] = [
  [1_000, "10 min"],
  [60_000, "6 h"],
  [600_000, "4 d"],
];
const HEIGHT = 170;
/** Points of the curve, so that a narrow picture stays readable. */
const MAX_POINTS = 300;

/** Items per second over time. */
export function ThroughputPanel({ run, tenant, detail }: RunPanelProps) {
  const [stepMs, setStepMs] = useState(1_000);
  const history = useResource<History>(
    `console/runs/${run}/history`,
    { tenant, step: stepMs },
    { run, of: `${run}/${stepMs}` },
  );
  return (
    <Panel
      title="Throughput"
      note={
        <span class="segments" role="group" aria-label="Time shown">
          {STEPS.map(([step, name]) => (
            <button type="button" key={step} aria-pressed={step === stepMs} onClick={() => setStepMs(step)}>
              {name}
            </button>
          ))}
        </span>
      }
    >
      <Loaded resource={history} what="The history">
        {(data) =>
          data.items.every((count) => count === null) ? (
            <Empty title="Nothing recorded in this time">
              <p>History is kept for 10 minutes by the second, 6 hours by the minute and 4 days by 10 minutes.</p>
            </Empty>
          ) : (
            <ThroughputPicture
              history={data}
              remainingMs={detail.status === "Active" ? detail.remainingMs : undefined}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function ThroughputPicture({
  history,
  remainingMs,
}: {
  readonly history: History;
  readonly remainingMs: number | undefined;
}) {
  const nowMs = useApp().nowMs.value;
  const [point, setPoint] = useState<Point>();
  const { fromMs, stepMs, items } = history;
  const toMs = fromMs + items.length * stepMs;
  const rates = ratesOf(history);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: Size, colors: Colors) => {
      drawTimeAxis(context, size, colors, { fromMs, toMs });
      drawSeries(context, size, colors, layoutSeries(thinOut(rates, MAX_POINTS)));
      const area = { width: size.width, height: size.height - AXIS_HEIGHT };
      if (point !== undefined) drawPointer(context, area, colors, point);
    },
    [history, point?.x],
  );
  const index = point && Math.min(items.length - 1, Math.floor(point.x * items.length));
  return (
    <>
      <Picture
        label={`Items per second over ${formatDuration(toMs - fromMs)}.`}
        keys="Left and right move the pointer."
        height={HEIGHT}
        draw={draw}
        point={point}
        onPoint={setPoint}
      />
      <p class="readout" aria-live="polite">
        {index === undefined ? (
          <EtaText remainingMs={remainingMs} nowMs={nowMs} />
        ) : (
          <>
            <strong>{formatRate(rates[index])}</strong> at {formatClock(fromMs + index * stepMs, nowMs)} ·{" "}
            {countText(history.failures[index], "failed")} · {countText(history.workers[index], "workers")}
          </>
        )}
      </p>
      <HistoryTable history={history} rates={rates} />
    </>
  );
}

function EtaText({ remainingMs, nowMs }: { readonly remainingMs: number | undefined; readonly nowMs: number }) {
  if (remainingMs === undefined) return <>Point at the curve for the rate at a time.</>;
  return (
    <>
      <strong>{formatDuration(remainingMs)}</strong> left at this rate: done at about{" "}
      {formatClock(nowMs + remainingMs, nowMs)}.
    </>
  );
}

function countText(count: number | null | undefined, what: string): string {
  return count === null || count === undefined ? `${what} not recorded` : `${formatCount(count)} ${what}`;
}

const TABLE_ROWS = 60;

function HistoryTable({ history, rates }: { readonly history: History; readonly rates: readonly (number | null)[] }) {
  const nowMs = useApp().nowMs.value;
  const recorded = rates.flatMap((rate, index) => (rate === null ? [] : [{ rate, index }]));
  const newest = recorded.slice(-TABLE_ROWS).toReversed();
  return (
    <DataTable summary={`Table: the newest ${newest.length} of ${recorded.length} entries`}>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col" class="num">
            Rate
          </th>
          <th scope="col" class="num">
            Failed
          </th>
          <th scope="col" class="num">
            Workers
          </th>
        </tr>
      </thead>
      <tbody>
        {newest.map(({ rate, index }) => (
          <tr key={index}>
            <th scope="row">{formatClock(history.fromMs + index * history.stepMs, nowMs)}</th>
            <td class="num">{formatRate(rate)}</td>
            <td class="num">{history.failures[index] ?? "–"}</td>
            <td class="num">{history.workers[index] ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}
