import { compareBytes } from "@gossip/stdx";
import type { Style } from "../output/console.ts";
import { rootsOf, type ShardRow } from "../run/inspect/read-shards.ts";

export interface StripOptions {
  readonly width: number;
  readonly hasUnicode: boolean;
  readonly styled: (style: Style, text: string) => string;
}

type CellState = "done" | "leased" | "waiting" | "parked";

/**
 * How a cell is drawn, in order of precedence: a cell shared by several states shows the one that may need attention.
 */
const CELLS = {
  parked: { unicode: "▒", ascii: "!", style: "red" },
  leased: { unicode: "▓", ascii: "+", style: "yellow" },
  waiting: { unicode: "░", ascii: ".", style: "dim" },
  done: { unicode: "█", ascii: "#", style: "green" },
} as const satisfies Record<CellState, { readonly unicode: string; readonly ascii: string; readonly style: Style }>;

/** A part of a strip. */
export interface StripSegment {
  readonly state: CellState;
  /** May be 0, for what is too small to have a width and is shown in its cell nevertheless. */
  readonly width: number;
}

/**
 * The key space of a run as a row of cells, from the first key to the last.
 *
 * Shards are in key order. The initial shards are equally wide, because a source plans them to be about equally large.
 * The shards of a split share the width of their parent. Keys up to a cursor are done.
 */
export function renderStrip(rows: readonly ShardRow[], options: StripOptions): string {
  return renderSegments(segmentsOf(rows), options);
}

/** A row of cells for segments in key order. */
export function renderSegments(segments: readonly StripSegment[], { width, hasUnicode, styled }: StripOptions): string {
  const whole = segments.reduce((sum, segment) => sum + segment.width, 0);
  if (whole === 0 || width < 1) return "";
  const cells = cellsOf(segments, whole, width);
  let [strip, at] = ["", 0];
  while (at < cells.length) {
    let end = at + 1;
    while (end < cells.length && cells[end] === cells[at]) end++;
    const { unicode, ascii, style } = CELLS[cells[at]!];
    strip += styled(style, (hasUnicode ? unicode : ascii).repeat(end - at));
    at = end;
  }
  return strip;
}

/** The legend of a strip. */
export function stripLegend({ hasUnicode, styled }: Omit<StripOptions, "width">): Record<CellState, string> {
  const sign = (state: CellState): string =>
    styled(CELLS[state].style, hasUnicode ? CELLS[state].unicode : CELLS[state].ascii);
  return { done: sign("done"), leased: sign("leased"), waiting: sign("waiting"), parked: sign("parked") };
}

function segmentsOf(rows: readonly ShardRow[]): StripSegment[] {
  const roots = rootsOf(rows);
  const leaves = rows
    .filter(({ status }) => status !== "Split")
    .toSorted((a, b) => compareBytes(a.keyRangeStart, b.keyRangeStart));
  const sharers = new Map<bigint, number>();
  for (const { shard } of leaves) sharers.set(roots.get(shard)!, (sharers.get(roots.get(shard)!) ?? 0) + 1);
  return leaves.flatMap((leaf) => segmentsOfShard(leaf, 1 / sharers.get(roots.get(leaf.shard)!)!));
}

/**
 * Half of a started shard counts as done: the position of a cursor in its range says little about the number of items.
 */
export function segmentsOfShard(
  { status, isLeased, lastKey }: Pick<ShardRow, "status" | "isLeased" | "lastKey">,
  width: number,
): StripSegment[] {
  if (status === "Done") return [{ state: "done", width }];
  const state = status === "Parked" ? "parked" : isLeased ? "leased" : "waiting";
  if (lastKey === undefined) return [{ state, width }];
  return [
    { state: "done", width: width / 2 },
    { state, width: width / 2 },
  ];
}

function cellsOf(segments: readonly StripSegment[], whole: number, width: number): CellState[] {
  const order = Object.keys(CELLS) as CellState[];
  const cells: CellState[] = [];
  let [index, end] = [0, segments[0]!.width];
  for (let cell = 0; cell < width; cell++) {
    const until = ((cell + 1) / width) * whole;
    const seen = new Set<CellState>([segments[index]!.state]);
    while (index + 1 < segments.length && end < until - whole * 1e-9) {
      index++;
      end += segments[index]!.width;
      seen.add(segments[index]!.state);
    }
    cells.push(order.find((state) => seen.has(state))!);
    // A segment that ends with the cell does not affect the next one.
    if (index + 1 < segments.length && end <= until + whole * 1e-9) {
      index++;
      end += segments[index]!.width;
    }
  }
  return cells;
}
