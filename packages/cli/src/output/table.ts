import { clip, textWidth } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** May be cut if the terminal is too narrow. */
  readonly mayShrink?: boolean;
  /** May be left out if the terminal is too narrow: the greatest number first. */
  readonly mayGo?: number;
}

const GAP = "  ";
const LEAST_WIDTH = 6;
/** A column that may be cut to less than this makes others go first. */
const USEFUL_WIDTH = 20;

/** Rows in columns under titles, cut to `maxWidth` if given. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth?: number,
): string[] {
  const going = maxWidth === undefined ? undefined : columnToDrop(columns, rows, maxWidth);
  if (going !== undefined) {
    const isKept = (_: unknown, index: number): boolean => index !== going;
    const kept = rows.map((row) => row.filter(isKept));
    return renderTable(columns.filter(isKept), kept, maxWidth);
  }
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[index]!))),
  );
  if (maxWidth !== undefined) shrink(columns, widths, maxWidth);
  const render = (cells: readonly string[]): string => {
    const line = cells
      .map((cell, index) => fit(cell, widths[index]!, columns[index]!.isNumber === true))
      .join(GAP)
      .trimEnd();
    return maxWidth === undefined ? line : clip(line, maxWidth);
  };
  return [render(columns.map(({ title }) => title)), ...rows.map(render)];
}

/** The index of a column to leave out, or `undefined` if all of them fit or none may go. */
function columnToDrop(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): number | undefined {
  const least = columns.map(({ title, mayShrink }, index) => {
    const width = Math.max(textWidth(title), ...rows.map((row) => textWidth(row[index]!)));
    return mayShrink === true ? Math.min(width, USEFUL_WIDTH) : width;
  });
  if (least.reduce((sum, width) => sum + width, 0) + GAP.length * (least.length - 1) <= maxWidth) return undefined;
  const [first] = [...columns.entries()]
    .filter(([, { mayGo }]) => mayGo !== undefined)
    .toSorted(([, a], [, b]) => b.mayGo! - a.mayGo!);
  return first?.[0];
}

function shrink(columns: readonly Column[], widths: number[], maxWidth: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - maxWidth;
  while (excess > 0) {
    const widest = columns.reduce(
      (best, { mayShrink }, index) =>
        mayShrink === true && widths[index]! > (best === -1 ? LEAST_WIDTH : widths[best]!) ? index : best,
      -1,
    );
    if (widest === -1) return;
    widths[widest]!--;
    excess--;
  }
}

function fit(cell: string, width: number, isNumber: boolean): string {
  const clipped = clip(cell, width);
  const padding = " ".repeat(width - textWidth(clipped));
  return isNumber ? padding + clipped : clipped + padding;
}
