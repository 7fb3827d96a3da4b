import { useCallback, useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import type { Heat } from "../../data/api-types.ts";
import { useResource } from "../../data/use-resource.ts";
import { formatRate, plural } from "../../format/numbers.ts";
import { formatAxisTime, formatClock } from "../../format/times.ts";
import { endText, startText } from "../../format/titles.ts";
import { DataTable, Empty, Loaded, Panel } from "../../parts/parts.tsx";
import { RAMPS, type Colors } from "../../pictures/colors.ts";
import { AXIS_HEIGHT, drawLabel, drawPixels, drawPointer } from "../../pictures/draw.ts";
import { busiestCells, heatMarks, heatTimes, hitHeat, paintHeat, type HeatHit } from "../../pictures/heat-layout.ts";
import { Picture, type Point, type Size } from "../../pictures/picture.tsx";
import { isWhole, zoomTo } from "../../pictures/window.ts";
import { useHolderAt, useKeyAt } from "./key-at.ts";
import type { RunPanelProps } from "./run-panel.ts";
import { zoomOf } from "./strip-panel.tsx";

const HEIGHT = 280;
const KEY_ROWS = 140;
const COLUMNS = 240;
const KEYS = "Arrow keys move the pointer, plus and minus zoom the keys, zero shows everything.";

interface Times {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Keys from top to bottom, time from left to right: where the work is, and where it was. */
export function HeatPanel(props: RunPanelProps) {
  const { run, tenant, window } = props;
  const [times, setTimes] = useState<Times>();
  const heat = useResource<Heat>(
    `console/runs/${run}/heat`,
    { tenant, from: window.from, to: window.to, keys: KEY_ROWS, columns: COLUMNS, ...times },
    { run, of: run, everyMs: 2_000 },
  );
  const isZoomed = times !== undefined || !isWhole(window);
  return (
    <Panel
      title="Heat map"
      note={
        <button
          type="button"
          class="button small"
          disabled={!isZoomed}
          onClick={() => {
            setTimes(undefined);
            props.onWindow({ from: 0, to: 1 });
          }}
        >
          Show everything
        </button>
      }
    >
      <Loaded resource={heat} what="The heat map">
        {(data) =>
          data.columns.length === 0 || data.max === 0 ? (
            <Empty title={isZoomed ? "No item was done here" : "No item was done yet"}>
              <p>Rates appear here a second after {isZoomed ? "an" : "the first"} item is done.</p>
            </Empty>
          ) : (
            <HeatPicture
              {...props}
              heat={data}
              isNow={times === undefined && props.detail.completedAtMs === undefined}
              onTimes={setTimes}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

interface HeatPictureProps extends RunPanelProps {
  readonly heat: Heat;
  /** Whether the last column is of the present. */
  readonly isNow: boolean;
  readonly onTimes: (times: Times | undefined) => void;
}

function HeatPicture({ heat, isNow, detail, window, onWindow, onTimes }: HeatPictureProps) {
  const [point, setPoint] = useState<Point>();
  const plot = (at: Point): Point => ({ x: at.x, y: Math.min(0.999999, (at.y * HEIGHT) / (HEIGHT - AXIS_HEIGHT)) });
  const hit = point && hitHeat(heat, Math.min(point.x, 0.999999), plot(point).y);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, size: Size, colors: Colors) => {
      const area = { width: size.width, height: size.height - AXIS_HEIGHT };
      drawPixels(context, area, new ImageData(paintHeat(heat, colors.ramp), heat.columns.length, heat.keys));
      drawHeatAxis(context, size, colors, { heat, isNow });
      if (point !== undefined) drawPointer(context, area, colors, plot(point), true);
    },
    [heat, isNow, point?.x, point?.y],
  );
  return (
    <>
      <p class="axis-note">
        <HeatEnds detail={detail} window={window} />
      </p>
      <Picture
        isArea
        label={`Heat map of keys and time, up to ${formatRate(heat.max)}.`}
        keys={KEYS}
        height={HEIGHT}
        draw={draw}
        point={point}
        onPoint={setPoint}
        onDrag={(from, to) => {
          const [a, b] = [plot(from), plot(to)];
          if (Math.abs(a.x - b.x) > 0.02) onTimes(heatTimes(heat, a.x, b.x));
          if (Math.abs(a.y - b.y) > 0.05) onWindow(zoomTo(window, a.y, b.y));
        }}
        onKey={(pressed, at) => {
          const next = zoomOf(window, pressed, plot(at).y);
          if (pressed === "0" || pressed === "Escape") onTimes(undefined);
          if (next !== undefined) onWindow(next);
          return next !== undefined;
        }}
      />
      <div class="below">
        <p class="readout" aria-live="polite">
          <Readout hit={hit} detail={detail} />
        </p>
        <Ramp max={heat.max} />
      </div>
      <HeatTable heat={heat} />
    </>
  );
}

/** The keys at the top and at the bottom. */
function HeatEnds({ detail, window }: Pick<RunPanelProps, "detail" | "window">) {
  const [from, to] = [useKeyAt(detail, window.from), useKeyAt(detail, window.to)];
  return (
    <>
      Keys from top to bottom: <span class="mono">{startText(window.from > 0 ? (from ?? WAIT) : detail.from)}</span> to{" "}
      <span class="mono">{endText(window.to < 1 ? (to ?? WAIT) : detail.to)}</span>. Time from left to right.
    </>
  );
}

const WAIT = { text: "…" };

function drawHeatAxis(
  context: CanvasRenderingContext2D,
  { width, height }: Size,
  colors: Colors,
  { heat, isNow }: { readonly heat: Heat; readonly isNow: boolean },
): void {
  const marks = heatMarks(heat, Math.max(2, Math.floor(width / 130)));
  const spanMs = heat.columns.at(-1)!.toMs - heat.columns[0]!.fromMs;
  for (const { x, atMs } of marks) {
    context.fillStyle = colors.lineStrong;
    context.fillRect(Math.round(x * width), height - AXIS_HEIGHT, 1, 5);
    const label = formatAxisTime(atMs, spanMs > 7_200_000 ? 60_000 : 1_000);
    drawLabel(context, label, { x: x * width + 4, y: height - 5 }, colors.muted);
  }
  const endMs = heat.columns.at(-1)!.toMs;
  const end = isNow ? "now" : formatAxisTime(endMs, spanMs > 7_200_000 ? 60_000 : 1_000);
  drawLabel(context, end, { x: width, y: height - 5 }, colors.muted, "right");
}

function Readout({ hit, detail }: { readonly hit: HeatHit | undefined; readonly detail: RunPanelProps["detail"] }) {
  const nowMs = useApp().nowMs.value;
  const middle = hit && (hit.from + hit.to) / 2;
  const key = useKeyAt(detail, middle);
  const holder = useHolderAt(detail, middle);
  if (hit === undefined) return <>Point at a cell to see its key, rate and holder. Drag to zoom into keys or time.</>;
  return (
    <>
      <strong>{formatRate(hit.perSecond)}</strong> at {key?.text ?? "…"} · {formatClock(hit.fromMs, nowMs)}–
      {formatClock(hit.toMs, nowMs)} · {holder ?? "…"}
    </>
  );
}

/** What the shades mean. */
function Ramp({ max }: { readonly max: number }) {
  const theme = document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
  return (
    <ul class="legend" aria-label="Shades">
      <li>
        0
        <span class="ramp" aria-hidden="true">
          {RAMPS[theme].map((color) => (
            <span key={color.join()} style={{ background: `rgb(${color.join(" ")})` }} />
          ))}
        </span>
        {formatRate(max)}
      </li>
    </ul>
  );
}

const TABLE_ROWS = 50;

function HeatTable({ heat }: { readonly heat: Heat }) {
  const nowMs = useApp().nowMs.value;
  const busiest = busiestCells(heat, TABLE_ROWS);
  return (
    <DataTable summary={`Table: the ${plural(busiest.length, "busiest cell")}`}>
      <thead>
        <tr>
          <th scope="col">Part of the keys</th>
          <th scope="col">Time</th>
          <th scope="col" class="num">
            Rate
          </th>
        </tr>
      </thead>
      <tbody>
        {busiest.map((hit) => (
          <tr key={`${hit.column}/${hit.key}`}>
            <th scope="row">
              {(hit.from * 100).toFixed(1)}–{(hit.to * 100).toFixed(1)}%
            </th>
            <td>
              {formatClock(hit.fromMs, nowMs)}–{formatClock(hit.toMs, nowMs)}
            </td>
            <td class="num">{formatRate(hit.perSecond)}</td>
          </tr>
        ))}
      </tbody>
    </DataTable>
  );
}
