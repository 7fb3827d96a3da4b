import type { History } from "../data/api-types.ts";
import { roundUp } from "./axis.ts";

/** A curve in shares of the picture: `x` from the left, `y` from the bottom. Gaps in the data part it into lines. */
export interface SeriesLayout {
  readonly lines: readonly (readonly { readonly x: number; readonly y: number }[])[];
  /** The value at the top. */
  readonly top: number;
  /** The last value, if it is recorded. */
  readonly last: number | undefined;
}

/** Items per second, one value per step. */
export function ratesOf({ items, stepMs }: Pick<History, "items" | "stepMs">): (number | null)[] {
  return items.map((count) => (count === null ? null : (count * 1000) / stepMs));
}

export function layoutSeries(values: readonly (number | null)[]): SeriesLayout {
  const most = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  const top = roundUp(most);
  const lines: { x: number; y: number }[][] = [];
  let line: { x: number; y: number }[] | undefined;
  for (const [index, value] of values.entries()) {
    if (value === null) line = undefined;
    else {
      if (line === undefined) lines.push((line = []));
      line.push({ x: (index + 0.5) / values.length, y: value / top });
    }
  }
  return { lines, top, last: values.at(-1) ?? undefined };
}

/** At most `most` values: the mean of each group, so that a long history fits a narrow picture. */
export function thinOut(values: readonly (number | null)[], most: number): (number | null)[] {
  if (values.length <= most) return [...values];
  const size = Math.ceil(values.length / most);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const group = values.slice(index * size, (index + 1) * size).filter((value) => value !== null);
    return group.length === 0 ? null : group.reduce((sum, value) => sum + value, 0) / group.length;
  });
}
