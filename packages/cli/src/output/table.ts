import { clip, textWidth } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** May be cut if the terminal is too narrow. */
  readonly mayShrink?: boolean;
}

const GAP = "  ";
const LEAST_WIDTH = 6;

/** Rows in columns under titles, cut to `maxWidth` if given. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth?: number,
): string[] {
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
