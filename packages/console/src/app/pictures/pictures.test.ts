// A shard at the wrong position is a shard that an operator splits or parks by mistake.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Heat, LeafState, ShardRow, ShownKey, Strip, StripShard } from "../data/api-types.ts";
import { roundUp, timeMarks } from "./axis.ts";
import { RAMPS, rampColor } from "./colors.ts";
import { busiestCells, heatMarks, heatStrength, heatTimes, hitHeat, paintHeat } from "./heat-layout.ts";
import { layoutSeries, ratesOf, thinOut } from "./series-layout.ts";
import { hitStrip, layoutStrip } from "./strip-layout.ts";
import { hitTimeline, layoutTimeline } from "./timeline-layout.ts";
import { hitTree, layoutTree, treeLines, type TreeNode } from "./tree-layout.ts";
import { pan, positionAt, shareOf, WHOLE, zoomAround, zoomTo } from "./window.ts";

const key = (position: number, text = String(position)): ShownKey => ({ text, size: text.length, position });
const shard = (from: number, to: number, state: LeafState, cursor?: number): StripShard => ({
  shard: `s${from}`,
  from,
  to,
  start: key(from),
  end: key(to),
  state,
  attempts: 0,
  ...(cursor === undefined ? {} : { cursor: key(cursor) }),
});
const strip = (more: Partial<Strip>): Strip => ({
  from: 0,
  to: 1,
  fromKey: key(0),
  toKey: key(1),
  atMs: 0,
  isCounted: true,
  shardCount: 1,
  ...more,
});

describe("the window of keys", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  test("stays inside of the axis, whatever is zoomed and moved", () => {
    const step = fc.oneof(
      fc.tuple(fc.constant("to" as const), share, share),
      fc.tuple(fc.constant("around" as const), share, fc.constantFrom(0.5, 2, 8)),
      fc.tuple(fc.constant("pan" as const), fc.constantFrom(-0.5, 0.5), share),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let window = WHOLE;
        for (const [kind, a, b] of steps) {
          window = kind === "to" ? zoomTo(window, a, b) : kind === "around" ? zoomAround(window, a, b) : pan(window, a);
          expect(window.from).toBeGreaterThanOrEqual(0);
          expect(window.to).toBeLessThanOrEqual(1);
          expect(window.to).toBeGreaterThan(window.from);
        }
      }),
    );
  });

  test("the key under the pointer stays under it", () => {
    const window = zoomAround({ from: 0.2, to: 0.6 }, 0.25, 2);
    expect(positionAt(window, 0.25)).toBeCloseTo(0.3);
    expect(shareOf(window, 0.3)).toBeCloseTo(0.25);
  });
});

describe("the strip", () => {
  test("a shard is done up to its cursor, and in its own state behind it", () => {
    const { blocks, cursors } = layoutStrip(
      strip({ shards: [shard(0, 0.5, "leased", 0.2), shard(0.5, 1, "waiting")] }),
      WHOLE,
      100,
    );
    expect(blocks).toEqual([
      { x: 0, width: 20, state: "done" },
      { x: 50, width: 50, state: "waiting" },
      { x: 20, width: 30, state: "leased" },
    ]);
    expect(cursors).toEqual([20]);
  });

  test("shards that tile the axis tile the picture", () => {
    const bound = fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { maxLength: 20 });
    fc.assert(
      fc.property(bound, fc.infiniteStream(fc.constantFrom<LeafState>("done", "waiting")), (cuts, states) => {
        const bounds = [0, ...cuts.sort((a, b) => a - b), 1000].map((cut) => cut / 1000);
        const shards = bounds.slice(1).map((to, index) => shard(bounds[index]!, to, states.next().value));
        const { blocks } = layoutStrip(strip({ shards }), WHOLE, 640);
        expect(blocks.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(640);
      }),
    );
  });

  test("a parked shard is visible, however small it is, and drawn last", () => {
    const shards = [shard(0, 0.5, "leased"), shard(0.5, 0.5001, "parked"), shard(0.5001, 1, "waiting")];
    const { blocks } = layoutStrip(strip({ shards }), WHOLE, 100);
    expect(blocks.at(-1)).toEqual({ x: 50, width: 2, state: "parked" });
  });

  test("a strip that was read for all keys is shown in a smaller window meanwhile", () => {
    const read = strip({ shards: [shard(0, 0.5, "done"), shard(0.5, 1, "waiting")] });
    expect(layoutStrip(read, { from: 0.25, to: 0.75 }, 100).blocks).toEqual([
      { x: 0, width: 50, state: "done" },
      { x: 50, width: 50, state: "waiting" },
    ]);
  });

  const zeros = [0, 0, 0, 0, 0, 0, 0, 0];
  const buckets = {
    count: 8,
    done: [2, 0, 0, 0, 0, 0, 0, 0],
    leased: zeros,
    waiting: zeros,
    parked: [0, 0, 0, 0, 7, 0, 0, 0],
    cursors: zeros,
    fill: "dd-wpl--",
  };

  test("buckets of one state are one block, and keys that the run does not have are left out", () => {
    expect(layoutStrip(strip({ buckets }), WHOLE, 80).blocks).toEqual([
      { x: 0, width: 20, state: "done" },
      { x: 30, width: 10, state: "waiting" },
      { x: 50, width: 10, state: "leased" },
      { x: 40, width: 10, state: "parked" },
    ]);
  });

  test("what is at a position", () => {
    const shards = [shard(0, 0.25, "done"), shard(0.25, 0.5, "leased"), shard(0.75, 1, "waiting")];
    const at = (position: number): unknown =>
      (hitStrip(strip({ shards }), position) as { shard: StripShard } | undefined)?.shard.from;
    expect([0, 0.2499, 0.25, 0.49, 0.5, 0.74, 0.75, 0.999].map(at)).toEqual([
      0,
      0,
      0.25,
      0.25,
      undefined,
      undefined,
      0.75,
      0.75,
    ]);
    expect(hitStrip(strip({ buckets }), 0.55)).toMatchObject({ kind: "bucket", fill: "parked", counts: { parked: 7 } });
    expect(hitStrip(strip({ buckets }), 0.3)).toBeUndefined();
    expect(hitStrip(strip({}), 0.4)).toBeUndefined();
  });
});

describe("the heat map", () => {
  const heat: Heat = {
    from: 0.5,
    to: 1,
    keys: 2,
    columns: [
      { fromMs: 0, toMs: 60 },
      { fromMs: 60, toMs: 61 },
    ],
    cells: [0, 0, 10, 1, 1, 100],
    max: 100,
  };

  test("a pixel per cell, stronger for a higher rate", () => {
    const pixels = paintHeat(heat, RAMPS.light);
    const at = (column: number, row: number): number[] =>
      Array.from(pixels.slice((row * 2 + column) * 4, (row * 2 + column) * 4 + 3));
    expect(pixels).toHaveLength(16);
    expect(at(1, 1)).toEqual([...rampColor(RAMPS.light, 1)]);
    expect(at(1, 0)).toEqual([...rampColor(RAMPS.light, 0)]);
    expect(at(0, 0)).toEqual([...rampColor(RAMPS.light, heatStrength(10, 100))]);
    expect(heatStrength(1, 1e6)).toBeGreaterThan(0.1);
  });

  test("every shade has more contrast than the one before it", () => {
    const light = ([red, green, blue]: readonly number[]): number => red! * 0.3 + green! * 0.59 + blue! * 0.11;
    const lights = (name: "light" | "dark"): number[] =>
      Array.from({ length: 21 }, (_, step) => light(rampColor(RAMPS[name], step / 20)));
    expect(lights("light")).toEqual(lights("light").toSorted((a, b) => b - a));
    expect(lights("dark")).toEqual(lights("dark").toSorted((a, b) => a - b));
  });

  test("what is at a point, and the times of a selection in either direction", () => {
    expect(hitHeat(heat, 0.9, 0.9)).toEqual({
      column: 1,
      key: 1,
      fromMs: 60,
      toMs: 61,
      from: 0.75,
      to: 1,
      perSecond: 100,
    });
    expect(heatTimes(heat, 0.9, 0.6)).toEqual({ fromMs: 60, toMs: 61 });
    expect(heatTimes(heat, 0.1, 1)).toEqual({ fromMs: 0, toMs: 61 });
    expect(heatMarks(heat, 5)).toEqual([
      { x: 0, atMs: 0 },
      { x: 0.5, atMs: 60 },
    ]);
    expect(busiestCells(heat, 1)).toMatchObject([{ perSecond: 100, key: 1, column: 1 }]);
    expect(hitHeat({ ...heat, columns: [] }, 0.5, 0.5)).toBeUndefined();
  });
});

describe("the curve", () => {
  test("a value that is not recorded parts it", () => {
    const { lines, top } = layoutSeries([0, 30, null, 40]);
    expect(top).toBe(50);
    expect(lines).toEqual([
      [
        { x: 0.125, y: 0 },
        { x: 0.375, y: 0.6 },
      ],
      [{ x: 0.875, y: 0.8 }],
    ]);
  });

  test("rates are per second, and a long history is thinned out to means", () => {
    expect(ratesOf({ items: [60, null], stepMs: 60_000, fromMs: 0 })).toEqual([1, null]);
    expect(thinOut([1, 3, null, 5, null, null], 3)).toEqual([2, 5, null]);
    expect(thinOut([1, null], 3)).toEqual([1, null]);
  });
});

test("a step that is not over does not look like a fall", () => {
  const minutes = { items: [600, 300], stepMs: 60_000, fromMs: 120_000 };
  expect(ratesOf({ ...minutes, untilMs: 210_000 })).toEqual([10, 10]);
  expect(ratesOf({ ...minutes, untilMs: 181_000 })).toEqual([10, null]);
  expect(ratesOf({ items: [8, 3], stepMs: 1_000, fromMs: 5_000, untilMs: 6_400 })).toEqual([8, null]);
});

describe("the time line", () => {
  const worker = { worker: "w", isLive: true, marks: [{ atMs: 50, kind: "loss" as const, shard: "a" }] };

  test("leases that overlap are in different rows, and an open one reaches to now", () => {
    const spans = [
      { shard: "a", fromMs: -50, toMs: 50, end: "lost" as const },
      { shard: "b", fromMs: 25 },
      { shard: "c", fromMs: 50, toMs: 75, end: "completed" as const },
    ];
    const [lane] = layoutTimeline({ fromMs: 0, toMs: 100, workers: [{ ...worker, spans }] });
    expect(lane!.bars.map(({ x, width, row }) => [x, width, row])).toEqual([
      [0, 0.5, 0],
      [0.25, 0.75, 1],
      [0.5, 0.25, 0],
    ]);
    expect([lane!.rows, lane!.marks[0]!.x]).toEqual([2, 0.5]);
    const heightOf = (): number => 10;
    expect(hitTimeline([lane!, lane!], { x: 0.1, y: 15 }, heightOf)?.bar?.shard).toBe("a");
    expect(hitTimeline([lane!], { x: 0.1, y: 15 }, heightOf)).toBeUndefined();
  });

  test("a worker with very many leases stays a few rows high", () => {
    const spans = Array.from({ length: 50 }, (_, index) => ({ shard: String(index), fromMs: 0 }));
    expect(layoutTimeline({ fromMs: 0, toMs: 9, workers: [{ ...worker, spans }] })[0]!.rows).toBe(6);
  });
});

describe("the split tree", () => {
  const row = (name: string, from: number, to: number, children = 0): ShardRow => ({
    ...shard(from, to, "done"),
    shard: name,
    children,
    acquired: 1,
  });
  const tree: TreeNode[] = [
    { row: row("a", 0, 0.5, 2), hasMore: false, children: [leaf("b", 0, 0.25), leaf("c", 0.25, 0.5)] },
    leaf("d", 0.5, 1),
  ];
  function leaf(name: string, from: number, to: number): TreeNode {
    return { row: row(name, from, to), children: undefined, hasMore: false };
  }

  test("a child is below its parent, at its own position", () => {
    const boxes = layoutTree(tree, WHOLE);
    expect(boxes.map(({ row: { shard: name }, x, depth }) => [name, x, depth])).toEqual([
      ["a", 0, 0],
      ["b", 0, 1],
      ["c", 0.25, 1],
      ["d", 0.5, 0],
    ]);
    expect([hitTree(boxes, 0.3, 1)?.row.shard, hitTree(boxes, 0.7, 0)?.row.shard, hitTree(boxes, 0.7, 1)]).toEqual([
      "c",
      "d",
      undefined,
    ]);
    expect(layoutTree(tree, { from: 0.5, to: 1 })).toHaveLength(1);
  });

  test("the list shows the children of what is open", () => {
    expect(treeLines(tree, () => false).map(({ node }) => node.row.shard)).toEqual(["a", "d"]);
    expect(treeLines(tree, () => true).map(({ node, depth }) => `${node.row.shard}${depth}`)).toEqual([
      "a0",
      "b1",
      "c1",
      "d0",
    ]);
  });
});

describe("axes", () => {
  test("marks are round times in the local time, and not too many", () => {
    expect(timeMarks({ fromMs: 500, toMs: 61_000 }, 6)).toEqual({
      stepMs: 15_000,
      atMs: [15_000, 30_000, 45_000, 60_000],
    });
    expect(timeMarks({ fromMs: 0, toMs: 86_400_000 }, 3, 3_600_000).atMs).toEqual([39_600_000, 82_800_000]);
  });

  test.each([
    [0, 1],
    [1.5, 2],
    [3, 5],
    [51, 100],
    [100, 100],
    [101, 200],
  ])("roundUp(%d) is %d", (value, top) => {
    expect(roundUp(value)).toBe(top);
  });
});
