// The view is all that most people see of a run. A line that is too wide wraps and tears the whole picture; a strip
// that shows a parked shard as done hides what an operator has to act upon.
import { RunId, ShardId, TenantId, type LogicalTime } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textWidth } from "../output/text-width.ts";
import { NO_ITEMS } from "../run/results/item-totals.ts";
import type { ShardRow } from "../run/inspect/read-shards.ts";
import { plainLine, progressLines } from "./progress-lines.ts";
import type { RunProgressShown } from "./run-progress.ts";
import { renderStrip } from "./strip.ts";

const plain = (_style: unknown, text: string): string => text;
const ASCII = { hasUnicode: false, styled: plain };

type State = "done" | "leased" | "waiting" | "parked" | "split";

/** Shards side by side, in the given states. */
function rowsOf(states: readonly State[], progress: readonly boolean[] = []): ShardRow[] {
  return states.map((state, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    status: state === "done" ? "Done" : state === "parked" ? "Parked" : state === "split" ? "Split" : "Active",
    parkReason: undefined,
    isLeased: state === "leased",
    leaseDeadline: undefined,
    acquireCount: 0,
    lastKey: progress[index] === true ? Uint8Array.of(index, 128) : undefined,
    keyRangeStart: Uint8Array.of(index),
    keyRangeEnd: Uint8Array.of(index + 1),
    parent: undefined,
    spawnedCount: 0,
    totals: NO_ITEMS,
    attempts: 0,
    leaseOwner: undefined,
  }));
}

describe("renderStrip", () => {
  const state = fc.constantFrom<State>("done", "leased", "waiting", "parked");

  test("has exactly as many cells as asked for, and shows every state that has a cell of its own", () => {
    fc.assert(
      fc.property(
        fc.array(state, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 120 }),
        (states, width) => {
          const strip = renderStrip(rowsOf(states), { ...ASCII, width });
          expect(strip.length).toBe(width);
          if (width >= 2 * states.length) for (const sign of new Set(states.map(signOf))) expect(strip).toContain(sign);
        },
      ),
    );
  });

  test("a cell is drawn as done only where all of it is, and parked wins over everything", () => {
    fc.assert(
      fc.property(
        fc.array(state, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        (states, width) => {
          const strip = renderStrip(rowsOf(states), { ...ASCII, width });
          expect(strip === "#".repeat(width)).toBe(states.every((each) => each === "done"));
          expect(strip.includes("!")).toBe(states.includes("parked"));
        },
      ),
    );
  });

  test("stands in the order of keys, each of the first shards equally wide", () => {
    expect(renderStrip(rowsOf(["done", "leased", "waiting", "parked"]), { ...ASCII, width: 8 })).toBe("##++..!!");
    expect(
      renderStrip(rowsOf(["done", "leased", "waiting", "parked"], [false, true, true, false]), { ...ASCII, width: 8 }),
    ).toBe("###+#.!!");
    expect(renderStrip([], { ...ASCII, width: 8 })).toBe("");
  });

  test("what a shard was split into shares its width", () => {
    const [first, second] = rowsOf(["split", "waiting"]);
    const child = (id: bigint, start: number): ShardRow => ({
      ...first!,
      shard: ShardId.fromRaw(id),
      parent: first!.shard,
      status: "Done",
      keyRangeStart: Uint8Array.of(0, start),
    });
    const rows = [first!, child(2n ** 63n + 1n, 0), child(2n ** 63n + 2n, 100), second!];
    expect(renderStrip(rows, { ...ASCII, width: 8 })).toBe("####....");
  });
});

function signOf(state: State): string {
  return { done: "#", leased: "+", waiting: ".", parked: "!", split: "" }[state];
}

const NOTHING_SET = {
  paused: false,
  pausedSince: undefined,
  itemsPerSecond: null,
  concurrency: null,
  heldForMs: 0,
} as const;

const itemsOf = (items: number) => ({ totals: { items, failed: 0, unreadable: 0 } });

function shown(states: readonly State[], fields: Partial<RunProgressShown> = {}, failed = 0): RunProgressShown {
  const rows = rowsOf(states);
  const count = (state: State): number => states.filter((each) => each === state).length;
  return {
    overview: {
      request: { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) },
      status: "Active",
      rows,
      states: { done: count("done"), leased: count("leased"), waiting: count("waiting"), parked: count("parked") },
      totals: { items: 12_345, failed, unreadable: 0 },
      fraction: undefined,
      earliestDeadline: 5n as LogicalTime,
      holders: new Set(),
      shared: NOTHING_SET,
    },
    elapsedMs: 1000,
    before: itemsOf(0),
    fraction: 0.5,
    perSecond: 412,
    remainingMs: 200_000,
    held: 1,
    waitMs: undefined,
    outage: undefined,
    isStopping: false,
    ...fields,
  };
}

const OUTAGE = { what: "store", since: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)), forMs: 75_000 } as const;

describe("the view", () => {
  test("no line is wider than the terminal, however narrow, whatever there is to say", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.boolean(),
        fc.nat(1_000_000),
        fc.boolean(),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
        (width, isStopping, itemsBefore, hasUnicode, fraction) => {
          const progress = shown(
            ["done", "leased", "waiting", "parked"],
            { isStopping, before: itemsOf(itemsBefore), fraction, waitMs: 5000, outage: OUTAGE },
            itemsBefore,
          );
          for (const line of progressLines(progress, { width, hasUnicode, styled: plain }))
            expect(textWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  test("says that the items of a sample are an estimate, and draws its strip", () => {
    const sample = { shardCount: 1000, itemsError: 400, strip: [{ state: "leased", width: 1 }] } as const;
    const { overview } = shown(["done"], {}, 3);
    const estimated = shown([], { overview: { ...overview, rows: [], sample }, before: { ...itemsOf(5432), sample } });
    const lines = progressLines(estimated, { width: 100, hasUnicode: false, styled: plain });
    expect(lines[0]).toContain("about 12,000 items");
    expect(lines[1]).toBe("+".repeat(100));
    expect(lines[2]).not.toContain("failed");
    expect(lines).toContain("about 5,400 items skipped: done before");
  });

  test("says share, items, rate, time left and states", () => {
    expect(progressLines(shown(["done", "done", "leased", "waiting"], {}, 3), { width: 80, ...ASCII })).toEqual([
      "[===============---------------] 50 %  12,345 items  412/s  ETA 3 min 20 s",
      `${"#".repeat(40)}${"+".repeat(20)}${".".repeat(20)}`,
      "# 2 done  + 1 in work  . 1 waiting  ! 0 parked   3 failed",
    ]);
  });

  test("has no bar and no percentage while too little is known", () => {
    const progress = shown(["done", "leased"], { fraction: undefined, remainingMs: undefined });
    expect(progressLines(progress, { width: 80, ...ASCII })[0]).toBe("12,345 items  412/s");
  });

  test("reads unknown where the time left cannot be predicted", () => {
    expect(plainLine(shown(["done", "leased"], { remainingMs: undefined }))).toContain(
      "50 %, 12,345 items, 412/s, ETA unknown;",
    );
  });

  test("says what does not respond, and since when", () => {
    expect(plainLine(shown(["leased"], { outage: OUTAGE }))).toContain(
      "the store has not responded since 03:04:05 UTC (1 min 15 s); the work waits for it",
    );
    expect(plainLine(shown(["leased"], { outage: { ...OUTAGE, what: "results" } }))).toContain(
      "the disk of the results has been full since 03:04:05 UTC (1 min 15 s); the work waits for room",
    );
  });

  test("shows since when the run is paused, and expects no end", () => {
    const progress = shown(["done", "leased"], { waitMs: 7000, held: 0 });
    const shared = { ...NOTHING_SET, paused: true, pausedSince: 1_767_323_045_000n as LogicalTime };
    const line = plainLine({ ...progress, overview: { ...progress.overview, shared } });
    expect(line).toContain("paused since 2026-01-02 03:04:05Z");
    expect(line).not.toMatch(/ETA|waiting for/);
  });

  test("says what it waits for, what it skipped, and how to stop at once", () => {
    expect(plainLine(shown(["done", "leased"], { waitMs: 7000, held: 0, before: itemsOf(10) }))).toContain(
      "10 items skipped: done before; waiting for 1 shard that others hold; the first lease ends in 7 s",
    );
    expect(plainLine(shown(["leased"], { isStopping: true, held: 1 }))).toContain(
      "stopping: letting the items of 1 shard finish; Ctrl-C again stops at once",
    );
  });

  test("is at 100 % when nothing is left, and not before", () => {
    expect(plainLine(shown(["done", "done"]))).toContain("100 %");
    expect(plainLine(shown(["done", "done", "leased"]))).not.toContain("100 %");
    expect(plainLine(shown(["done", "done", "parked"]))).toContain(" 50 %");
  });
});
