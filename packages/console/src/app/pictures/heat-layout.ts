import type { Heat } from "../data/api-types.ts";
import { rampColor, type Rgb } from "./colors.ts";

/** How strong a rate is shown, from 0 to 1. Logarithmic: a slow shard next to a fast one is not a still one. */
export function heatStrength(perSecond: number, max: number): number {
  if (perSecond <= 0 || max <= 0) return 0;
  return 0.12 + 0.88 * (Math.log1p(perSecond) / Math.log1p(Math.max(max, perSecond)));
}

/**
 * The heat map as pixels, one per cell, row by row: columns are times, oldest on the left, and the first key is at the
 * top. Four bytes per pixel.
 */
export function paintHeat({ keys, columns, cells, max }: Heat, ramp: readonly Rgb[]): Uint8ClampedArray<ArrayBuffer> {
  const width = columns.length;
  const pixels = new Uint8ClampedArray(width * keys * 4);
  const nothing = rampColor(ramp, 0);
  for (let at = 0; at < pixels.length; at += 4) pixels.set([...nothing, 255], at);
  for (let at = 0; at + 2 < cells.length; at += 3) {
    const [column, key, perSecond] = [cells[at]!, cells[at + 1]!, cells[at + 2]!];
    if (column < width && key < keys)
      pixels.set(rampColor(ramp, heatStrength(perSecond, max)), (key * width + column) * 4);
  }
  return pixels;
}

/** The cell at shares `x` and `y` of the picture. */
export interface HeatHit {
  readonly column: number;
  readonly key: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** On the key axis. */
  readonly from: number;
  readonly to: number;
  readonly perSecond: number;
}

export function hitHeat(heat: Heat, x: number, y: number): HeatHit | undefined {
  const column = Math.min(heat.columns.length - 1, Math.floor(x * heat.columns.length));
  const key = Math.min(heat.keys - 1, Math.floor(y * heat.keys));
  const time = heat.columns[column];
  if (time === undefined || x < 0 || y < 0 || key < 0) return undefined;
  const step = (heat.to - heat.from) / heat.keys;
  return {
    column,
    key,
    ...time,
    from: heat.from + key * step,
    to: heat.from + (key + 1) * step,
    perSecond: rateAt(heat, column, key),
  };
}

function rateAt({ cells }: Heat, column: number, key: number): number {
  for (let at = 0; at + 2 < cells.length; at += 3)
    if (cells[at] === column && cells[at + 1] === key) return cells[at + 2]!;
  return 0;
}

/** The times of the selected columns, for a zoom. */
export function heatTimes(
  heat: Heat,
  a: number,
  b: number,
): { readonly fromMs: number; readonly toMs: number } | undefined {
  const [low, high] = a < b ? [a, b] : [b, a];
  const first = hitHeat(heat, Math.max(0, low), 0);
  const last = hitHeat(heat, Math.min(0.999999, high), 0);
  return first && last && { fromMs: first.fromMs, toMs: last.toMs };
}

/** Labels below the columns: at most `most`, evenly apart. Columns differ in length, so times are not. */
export function heatMarks({ columns }: Heat, most: number): { readonly x: number; readonly atMs: number }[] {
  if (columns.length === 0) return [];
  const count = Math.max(1, Math.min(most, columns.length));
  return Array.from({ length: count }, (_, index) => {
    const column = Math.floor((index * columns.length) / count);
    return { x: column / columns.length, atMs: columns[column]!.fromMs };
  });
}

/** The busiest cells, for the table. */
export function busiestCells(heat: Heat, most: number): HeatHit[] {
  const places: { readonly at: number; readonly rate: number }[] = [];
  for (let at = 0; at + 2 < heat.cells.length; at += 3) places.push({ at, rate: heat.cells[at + 2]! });
  return places
    .sort((a, b) => b.rate - a.rate)
    .slice(0, most)
    .flatMap(({ at }) => {
      const hit = hitHeat(heat, (heat.cells[at]! + 0.5) / heat.columns.length, (heat.cells[at + 1]! + 0.5) / heat.keys);
      return hit === undefined ? [] : [hit];
    });
}
