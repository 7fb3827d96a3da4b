// Draws a chart as SVG: axes with readable numbers, a legend, and nothing that needs a script or a font to be loaded.
import type { Chart } from "./figure.ts";

const SIZE = { width: 820, height: 430 };
const PLOT = { left: 74, right: 20, top: 64, bottom: 78 };
/** Okabe and Ito's colors, which people with color blindness can tell apart. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"];
const INK = "#222222";
const GRID = "#dddddd";

interface Axis {
  readonly ticks: readonly number[];
  /** From 0 to 1. */
  at(value: number): number;
}

export function svgChart(title: string, chart: Chart): string {
  const y = yAxis(chart);
  const body = [
    ...gridLines(y),
    ...(chart.kind === "bars" ? bars(chart, y) : lines(chart, y)),
    ...limitLine(chart, y),
    ...legend(chart),
    text(chart.yLabel, { x: 16, y: SIZE.height / 2, turn: true }),
    text(chart.xLabel, { x: (PLOT.left + SIZE.width - PLOT.right) / 2, y: SIZE.height - 10 }),
    text(title, { x: PLOT.left, y: 22, anchor: "start", size: 16 }),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" fill="#ffffff"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

function yAxis({ series, isLogY = false, limit }: Chart): Axis {
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  if (limit !== undefined) values.push(limit.value);
  const top = Math.max(...values);
  return isLogY ? logAxis(Math.min(...values), top) : linearAxis(0, top * 1.05);
}

function linearAxis(low: number, high: number): Axis {
  const step = niceStep((high - low) / 5);
  const last = low + Math.ceil((high - low) / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round((last - low) / step) + 1 }, (_, index) => low + index * step);
  return { ticks, at: (value) => (value - low) / (last - low) };
}

/** Ticks at powers of ten, or at 1, 2 and 5 if that would give fewer than three. */
function logAxis(low: number, high: number): Axis {
  const [from, to] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
  const decades = Math.max(1, to - from);
  const digits = decades < 3 ? [1, 2, 5] : [1];
  const ticks = Array.from({ length: decades + 1 }, (_, index) => 10 ** (from + index))
    .flatMap((power) => digits.map((digit) => digit * power))
    .filter((tick) => tick <= 10 ** (from + decades) * 1.001);
  return { ticks, at: (value) => (Math.log10(value) - from) / decades };
}

function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((step) => step >= raw)!;
}

const plotWidth = SIZE.width - PLOT.left - PLOT.right;
const plotHeight = SIZE.height - PLOT.top - PLOT.bottom;
const xAt = (part: number): number => PLOT.left + part * plotWidth;
const yAt = (part: number): number => PLOT.top + (1 - part) * plotHeight;

function gridLines(y: Axis): string[] {
  return y.ticks.flatMap((tick) => {
    const at = yAt(y.at(tick));
    return [
      `<line x1="${PLOT.left}" x2="${SIZE.width - PLOT.right}" y1="${px(at)}" y2="${px(at)}" stroke="${GRID}"/>`,
      text(shortNumber(tick), { x: PLOT.left - 8, y: at + 4, anchor: "end" }),
    ];
  });
}

function bars({ x, series }: Chart, y: Axis): string[] {
  const groupWidth = plotWidth / x.length;
  const barWidth = (groupWidth * 0.8) / series.length;
  const base = yAt(Math.max(0, y.at(y.ticks[0]!)));
  return x.flatMap((label, group) => {
    const left = PLOT.left + group * groupWidth;
    const drawn = series.flatMap(({ values }, index) => {
      const value = values[group];
      if (value === null || value === undefined) return [];
      const top = yAt(y.at(value));
      const at = left + groupWidth * 0.1 + index * barWidth;
      const height = Math.max(1, base - top);
      const bar = `<rect x="${px(at)}" y="${px(base - height)}" width="${px(barWidth - 1)}" height="${px(height)}" fill="${COLORS[index % COLORS.length]!}"/>`;
      // The first series is ours. Its bars are short where it is close to the ideal, so that they have their value.
      const label = text(value.toFixed(2), { x: at + barWidth, y: base - height - 5, size: 10, anchor: "end" });
      return index === 0 ? [bar, label] : [bar];
    });
    const words = wrap(String(label), 15).map((line, row) =>
      text(line, { x: left + groupWidth / 2, y: SIZE.height - PLOT.bottom + 16 + row * 14, size: 11 }),
    );
    return [...drawn, ...words];
  });
}

function lines({ x, series, isLogX = false }: Chart, y: Axis): string[] {
  const numbers = x.map(Number);
  const axis = isLogX ? logAxis(numbers[0]!, numbers.at(-1)!) : linearAxis(numbers[0]!, numbers.at(-1)!);
  const ticks = axis.ticks.map((tick) =>
    text(shortNumber(tick), { x: xAt(axis.at(tick)), y: SIZE.height - PLOT.bottom + 18 }),
  );
  const curves = series.flatMap(({ values }, index) => {
    const color = COLORS[index % COLORS.length]!;
    const points = numbers.flatMap((at, place) => {
      const value = values[place];
      return value === null || value === undefined ? [] : [{ x: px(xAt(axis.at(at))), y: px(yAt(y.at(value))) }];
    });
    const dots =
      points.length > 40
        ? []
        : points.map((point) => `<circle cx="${point.x}" cy="${point.y}" r="3" fill="${color}"/>`);
    const path = points.map((point) => `${point.x},${point.y}`).join(" ");
    return [`<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`, ...dots];
  });
  return [...ticks, ...curves];
}

function limitLine({ limit }: Chart, y: Axis): string[] {
  if (limit === undefined) return [];
  const at = yAt(y.at(limit.value));
  return [
    `<line x1="${PLOT.left}" x2="${SIZE.width - PLOT.right}" y1="${px(at)}" y2="${px(at)}" stroke="${INK}" stroke-dasharray="5 4"/>`,
    text(limit.label, { x: SIZE.width - PLOT.right - 4, y: at - 5, anchor: "end", size: 11 }),
  ];
}

function legend({ series }: Chart): string[] {
  let left = PLOT.left;
  return series.flatMap(({ name }, index) => {
    const at = left;
    left += 30 + name.length * 7;
    return [
      `<rect x="${at}" y="36" width="12" height="12" fill="${COLORS[index % COLORS.length]!}"/>`,
      text(name, { x: at + 17, y: 46, anchor: "start" }),
    ];
  });
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "start" | "end" | "middle";
  readonly size?: number;
  readonly turn?: boolean;
}

function text(words: string, { x, y, anchor = "middle", size = 12, turn = false }: TextPlace): string {
  const turned = turn ? ` transform="rotate(-90 ${px(x)} ${px(y)})"` : "";
  return `<text x="${px(x)}" y="${px(y)}" font-size="${size}" fill="${INK}" text-anchor="${anchor}"${turned}>${escape(words)}</text>`;
}

function wrap(words: string, width: number): string[] {
  const rows: string[] = [];
  for (const word of words.split(" ")) {
    const row = rows.at(-1);
    if (row === undefined || row.length + word.length + 1 > width) rows.push(word);
    else rows[rows.length - 1] = `${row} ${word}`;
  }
  return rows;
}

function shortNumber(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(4)));
}

function px(value: number): string {
  return value.toFixed(1);
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
