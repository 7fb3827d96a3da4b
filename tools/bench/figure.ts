// Results that a bench works out instead of timing: simulated times, counts, growth over sizes.
import type { Verdict } from "./judge.ts";

/** A curve for each series over the same x values, or a group of bars for each of them. */
export interface Chart {
  readonly kind: "lines" | "bars";
  readonly xLabel: string;
  readonly yLabel: string;
  readonly isLogX?: boolean;
  readonly isLogY?: boolean;
  /** Text for bars; numbers, ascending, for lines. */
  readonly x: readonly (string | number)[];
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  /** A line across the chart at this value. */
  readonly limit?: { readonly value: number; readonly label: string };
}

export interface FigureContent {
  /** What was measured and how, in a few sentences. */
  readonly note: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  readonly chart?: Chart;
  readonly verdicts: readonly Verdict[];
}

export interface StoredFigure extends FigureContent {
  readonly name: string;
}

export interface NamedFigure {
  readonly name: string;
  /** A smoke run must be small: it only shows that the figure can still be made. */
  readonly make: (options: { readonly isSmoke: boolean }) => Promise<FigureContent>;
}

const registered: NamedFigure[] = [];

/** Add a figure to the file that is being loaded. */
export function figure(name: string, make: NamedFigure["make"]): void {
  registered.push({ name, make });
}

/** The figures registered so far, in order. */
export function figures(): readonly NamedFigure[] {
  return registered;
}

/** The file name of a figure's picture, below `docs/charts`. */
export function pictureOf(name: string): string {
  return `${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")}.svg`;
}
