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

/** A rate over less than this says nothing. */
const LEAST_MS = 5_000;

/** Items per second, one value per step. The last step may have been recorded in part. */
export function ratesOf({
  items,
  stepMs,
  fromMs,
  untilMs = Infinity,
}: Pick<History, "items" | "stepMs" | "fromMs" | "untilMs">): (number | null)[] {
  return items.map((count, index) => {
    const recordedMs = Math.min(stepMs, untilMs - (fromMs + index * stepMs));
    const isKnown = count !== null && (recordedMs === stepMs || recordedMs >= LEAST_MS);
    return isKnown ? (count * 1000) / recordedMs : null;
  });
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
