// Draws what the layouts placed. Nothing is decided here.
import { formatAxisTime } from "../format/times.ts";
import { formatShort } from "../format/numbers.ts";
import type { MarkKind } from "../data/api-types.ts";
import { timeMarks } from "./axis.ts";
import type { Colors } from "./colors.ts";
import type { Point, Size } from "./picture.tsx";
import type { SeriesLayout } from "./series-layout.ts";
import type { StripLayout } from "./strip-layout.ts";
import type { TimelineLane } from "./timeline-layout.ts";
import type { TreeBox } from "./tree-layout.ts";

type Context = CanvasRenderingContext2D;

const LABEL_FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
/** Room for the labels of a time axis. */
export const AXIS_HEIGHT = 20;

export function drawStrip(context: Context, { width, height }: Size, colors: Colors, strip: StripLayout): void {
  context.fillStyle = colors.sunken;
  context.fillRect(0, 0, width, height);
  for (const { x, width: blockWidth, state } of strip.blocks) {
    context.fillStyle = colors.states[state];
    context.fillRect(x, 0, blockWidth, height);
    if (state === "parked") hatch(context, { x, width: blockWidth, height }, colors.surface);
  }
  context.fillStyle = colors.surface;
  for (const x of strip.borders) context.fillRect(Math.round(x) - 0.5, 0, 1, height);
  for (const x of strip.cursors) cursorMark(context, x, height, colors);
}

/** A cursor: a line with a small triangle on top, so that it differs from a border. */
function cursorMark(context: Context, x: number, height: number, colors: Colors): void {
  context.fillStyle = colors.text;
  context.fillRect(x - 0.75, 0, 1.5, height);
  context.beginPath();
  context.moveTo(x - 4, 0);
  context.lineTo(x + 4, 0);
  context.lineTo(x, 5);
  context.fill();
}

/** Stripes over parked shards: they are recognizable without color. */
function hatch(
  context: Context,
  { x, width, height }: { readonly x: number; readonly width: number; readonly height: number },
  color: string,
): void {
  if (width < 6) return;
  context.save();
  context.beginPath();
  context.rect(x, 0, width, height);
  context.clip();
  context.strokeStyle = color;
  context.globalAlpha = 0.55;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let at = x - height; at < x + width; at += 7) {
    context.moveTo(at, height);
    context.lineTo(at + height, 0);
  }
  context.stroke();
  context.restore();
}

export function drawPointer(
  context: Context,
  { width, height }: Size,
  colors: Colors,
  point: Point,
  isCross = false,
): void {
  context.strokeStyle = colors.text;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(Math.round(point.x * width) + 0.5, 0);
  context.lineTo(Math.round(point.x * width) + 0.5, height);
  if (isCross) {
    context.moveTo(0, Math.round(point.y * height) + 0.5);
    context.lineTo(width, Math.round(point.y * height) + 0.5);
  }
  context.stroke();
  context.setLineDash([]);
}

/** An image of one pixel per cell, stretched without smoothing. */
export function drawPixels(context: Context, area: Size, image: ImageData): void {
  if (image.width === 0 || image.height === 0) return;
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, area.width, area.height);
}

export function drawLabel(
  context: Context,
  text: string,
  at: { readonly x: number; readonly y: number },
  color: string,
  align: CanvasTextAlign = "left",
): void {
  context.font = LABEL_FONT;
  context.fillStyle = color;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(text, at.x, at.y);
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Round times below the picture, with a thin line up through it. */
export function drawTimeAxis(context: Context, { width, height }: Size, colors: Colors, range: TimeRange): void {
  const offsetMs = -new Date(range.toMs).getTimezoneOffset() * 60_000;
  const { stepMs, atMs } = timeMarks(range, Math.max(2, Math.floor(width / 110)), offsetMs);
  for (const at of atMs) {
    const x = ((at - range.fromMs) / Math.max(1, range.toMs - range.fromMs)) * width;
    context.fillStyle = colors.line;
    context.fillRect(Math.round(x), 0, 1, height - AXIS_HEIGHT + 4);
    const align = x < 24 ? "left" : x > width - 24 ? "right" : "center";
    drawLabel(
      context,
      formatAxisTime(at, stepMs),
      { x: Math.min(width, Math.max(0, x)), y: height - 4 },
      colors.muted,
      align,
    );
  }
}

export function drawSeries(context: Context, { width, height }: Size, colors: Colors, series: SeriesLayout): void {
  const plotHeight = height - AXIS_HEIGHT;
  const top = 14;
  const at = ({ x, y }: Point): Point => ({ x: x * width, y: plotHeight - y * (plotHeight - top) });
  context.fillStyle = colors.line;
  context.fillRect(0, top, width, 1);
  context.fillRect(0, plotHeight, width, 1);
  for (const line of series.lines) {
    const points = line.map(at);
    const [first, last] = [points[0]!, points.at(-1)!];
    context.beginPath();
    context.moveTo(first.x, plotHeight);
    for (const { x, y } of points) context.lineTo(x, y);
    context.lineTo(last.x, plotHeight);
    context.globalAlpha = 0.16;
    context.fillStyle = colors.states.leased;
    context.fill();
    context.globalAlpha = 1;
    context.beginPath();
    for (const { x, y } of points) context.lineTo(x, y);
    context.strokeStyle = colors.states.leased;
    context.lineWidth = 1.75;
    context.lineJoin = "round";
    context.stroke();
    if (points.length === 1) context.fillRect(first.x - 1, first.y - 1, 3, 3);
  }
  drawLabel(context, `${formatShort(series.top)}/s`, { x: 0, y: top - 4 }, colors.muted);
}

export const LANE_GAP = 10;
export const ROW_HEIGHT = 9;
export const LANE_LABEL_HEIGHT = 16;

export function laneHeight({ rows }: TimelineLane): number {
  return LANE_LABEL_HEIGHT + rows * ROW_HEIGHT + LANE_GAP;
}

export function drawTimeline(
  context: Context,
  { width }: Size,
  colors: Colors,
  lanes: readonly TimelineLane[],
  nameOf: (lane: TimelineLane) => string,
): void {
  let top = 0;
  for (const lane of lanes) {
    drawLabel(context, nameOf(lane), { x: 0, y: top + 12 }, lane.worker.isLive ? colors.text : colors.muted);
    const barsTop = top + LANE_LABEL_HEIGHT;
    context.fillStyle = colors.sunken;
    context.fillRect(0, barsTop, width, lane.rows * ROW_HEIGHT);
    for (const bar of lane.bars) {
      context.fillStyle = barColor(colors, bar.end);
      context.fillRect(
        bar.x * width,
        barsTop + bar.row * ROW_HEIGHT + 1,
        Math.max(1, bar.width * width - 0.5),
        ROW_HEIGHT - 2,
      );
    }
    for (const { x, kind } of lane.marks)
      leaseMark(context, { x: x * width, y: barsTop + lane.rows * ROW_HEIGHT }, kind, colors);
    top += laneHeight(lane);
  }
}

function barColor(colors: Colors, end: string | undefined): string {
  if (end === undefined) return colors.states.leased;
  if (end === "parked") return colors.states.parked;
  if (end === "lost" || end === "taken") return colors.states.failed;
  return end === "completed" ? colors.states.done : colors.states.split;
}

/** Every kind has its own shape. Claims are the start of a bar and need none. */
function leaseMark(context: Context, { x, y }: Point, kind: MarkKind, colors: Colors): void {
  if (kind === "claim") return;
  context.beginPath();
  if (kind === "takeover") {
    context.fillStyle = colors.states.leased;
    context.moveTo(x, y - 1);
    context.lineTo(x + 4.5, y + 7);
    context.lineTo(x - 4.5, y + 7);
    context.fill();
    return;
  }
  context.strokeStyle = kind === "loss" ? colors.states.failed : colors.states.parked;
  context.lineWidth = 2;
  context.moveTo(x - 3.5, y);
  context.lineTo(x + 3.5, y + 7);
  context.moveTo(x + 3.5, y);
  context.lineTo(x - 3.5, y + 7);
  context.stroke();
  if (kind === "rejected") context.strokeRect(x - 4.5, y - 1, 9, 9);
}

export const TREE_ROW_HEIGHT = 18;

export function drawTree(context: Context, { width }: Size, colors: Colors, boxes: readonly TreeBox[]): void {
  for (const { row, x, width: share, depth } of boxes) {
    const [left, boxWidth] = [x * width, Math.max(1, share * width - 1)];
    const top = depth * TREE_ROW_HEIGHT;
    context.fillStyle = row.state === "split" ? colors.sunken : colors.states[row.state];
    context.fillRect(left, top, boxWidth, TREE_ROW_HEIGHT - 2);
    if (row.state === "parked") {
      context.save();
      context.translate(0, top);
      hatch(context, { x: left, width: boxWidth, height: TREE_ROW_HEIGHT - 2 }, colors.surface);
      context.restore();
    }
    if (row.state === "split") {
      context.strokeStyle = colors.states.split;
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, top + 0.5, Math.max(0, boxWidth - 1), TREE_ROW_HEIGHT - 3);
    }
  }
}
