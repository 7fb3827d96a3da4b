// The bound of a progress display: once a tenth of the work is done, the fraction is within ten points of the truth and
// never decreases, and the time left is within a third of what it turns out to be, or unknown. Here in simulated time, on
// recorded shapes of real trees and on made-up ones; `progress.bench.ts` measures the same on real runs.
import { compareBytes } from "@gossip/stdx";
import { iterableSource, type Source, type WorkEstimate, type WorkSpan } from "@gossip/worker";
import { describe, expect, test } from "vitest";
import { INSTALLED_PACKAGES, SHARED_FILES, TWO_LARGE_FOLDERS, type RecordedTree } from "./recorded-trees.fixture.ts";
import { simulateRun, type SimulatedEnd, type SimulatedRun } from "./simulated-run.fixture.ts";

const FILES_PER_MARK = 60;
/** A time left below this is shown as less than five seconds. */
const SHORT_MS = 5000;

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

/** A tree of the recorded shape. */
function treeOf({ bounds, marks }: RecordedTree): Pick<SimulatedRun, "keys" | "bounds" | "source"> {
  const keys = marks.flatMap((mark) =>
    Array.from({ length: FILES_PER_MARK }, (_, index) => bytes(`${mark}\u0001${String(index).padStart(3, "0")}`)),
  );
  const source = iterableSource({ name: "tree", items: keys, keyOf: (key) => key });
  return { keys, bounds: bounds.map(bytes), source };
}

/** A manifest whose first lines are long: keys are offsets, and shards are equal parts of the bytes. */
function heavyHead(): Pick<SimulatedRun, "keys" | "bounds" | "source"> {
  const [keys, offsets]: [Uint8Array[], number[]] = [[], []];
  let offset = 0;
  for (let line = 0; line < 4000; line++) {
    keys.push(offsetKey(offset));
    offsets.push(offset);
    offset += line < 200 ? 20_000 : 200;
  }
  const parts = 128;
  const spans = Array.from({ length: parts }, (_, part) => {
    const [from, end] = [(offset * part) / parts, (offset * (part + 1)) / parts];
    const items = offsets.filter((each) => each >= from && each < end).length;
    return { start: offsetKey(from), end: offsetKey(end), items };
  });
  const bounds = Array.from({ length: 31 }, (_, index) => offsetKey((offset * (index + 1)) / 32));
  return { keys, bounds, source: knowing(spans) };
}

/** A table whose statistics are out of date: a fifth of its rows are missing from them. */
function staleTable(): Pick<SimulatedRun, "keys" | "bounds" | "source"> {
  const keys = Array.from({ length: 5000 }, (_, index) => offsetKey(index * index));
  const edges = Array.from({ length: 101 }, (_, index) => offsetKey((index * 50) ** 2));
  const spans = edges.slice(1).map((end, index) => ({ start: edges[index]!, end, items: 40 }));
  const bounds = Array.from({ length: 15 }, (_, index) => keys[Math.floor(((index + 1) * keys.length) / 16)]!);
  return { keys, bounds, source: knowing(spans) };
}

function offsetKey(offset: number): Uint8Array {
  const key = Buffer.alloc(9);
  key[0] = 1;
  key.writeBigUInt64BE(BigInt(Math.floor(offset)), 1);
  return key;
}

/** Nothing is below the first span or above the last. */
function knowing(known: readonly WorkSpan[]): Pick<Source, "estimate"> {
  const first = { start: Uint8Array.of(0), end: known[0]!.start, items: 0 };
  const spans = [first, ...known, { start: known.at(-1)!.end, end: new Uint8Array(0), items: 0 }];
  return {
    async *estimate(): AsyncGenerator<WorkEstimate> {
      yield { spans };
    },
  };
}

const SOURCES = {
  "a system's shared files": treeOf(SHARED_FILES),
  "installed packages": treeOf(INSTALLED_PACKAGES),
  "two large folders": treeOf(TWO_LARGE_FOLDERS),
  "a manifest with a heavy head": heavyHead(),
  "a table with old statistics": staleTable(),
};

/** From the same numbers every time: between 0.5 and 1.5 times the rate, changing every few seconds. */
const noisy = (perSecond: number) => (atMs: number) => perSecond * (0.75 + 0.5 * Math.abs(Math.sin(atMs / 1700)));

/** Samples that break the bound. */
function breaches({ shown, endMs }: SimulatedEnd, { eta }: { readonly eta: boolean }): string[] {
  const found: string[] = [];
  let last = 0;
  for (const { atMs, truth, fraction, remainingMs } of shown) {
    if (fraction !== undefined && fraction < last) found.push(`${atMs}: fell to ${fraction}`);
    last = Math.max(last, fraction ?? 0);
    if (truth < 0.1) continue;
    if (fraction !== undefined && Math.abs(fraction - truth) > 0.1) found.push(`${atMs}: ${fraction}, not ${truth}`);
    if (!eta || remainingMs === undefined) continue;
    const left = endMs - atMs;
    const isShort = remainingMs < SHORT_MS && left < SHORT_MS;
    const isRight = isShort || Math.abs(remainingMs - left) <= left / 3;
    if (!isRight) found.push(`${atMs}: ${remainingMs} ms left, not ${left}`);
  }
  return found;
}

const known = ({ shown }: SimulatedEnd, field: "fraction" | "remainingMs"): number =>
  shown.filter((each) => each.truth >= 0.1 && each[field] !== undefined).length /
  shown.filter((each) => each.truth >= 0.1).length;

describe.each(Object.entries(SOURCES))("%s", (_, source) => {
  test.each([1, 4, 16])("holds the bound with %i workers, and nearly always has figures", async (workers) => {
    const end = await simulateRun({ ...source, workers, rate: () => 100 / workers });
    expect(breaches(end, { eta: true })).toEqual([]);
    expect(known(end, "fraction")).toBe(1);
    expect(known(end, "remainingMs")).toBeGreaterThan(0.9);
  });

  test("holds the bound when the pace varies, and when another process works", async () => {
    const run = { ...source, workers: 4, rate: noisy(25) };
    expect(breaches(await simulateRun(run), { eta: true })).toEqual([]);
    expect(breaches(await simulateRun({ ...run, isElsewhere: true }), { eta: true })).toEqual([]);
  });

  test("keeps the fraction right when the count is slow, and predicts nothing that it does not know", async () => {
    const end = await simulateRun({ ...source, stepMs: 3000, workers: 4, rate: () => 50 });
    expect(breaches(end, { eta: true })).toEqual([]);
  });

  test("keeps the fraction right when the first items are slow", async () => {
    const end = await simulateRun({ ...source, workers: 4, rate: (atMs) => (atMs < 60_000 ? 2 : 40) });
    expect(breaches(end, { eta: false })).toEqual([]);
  });
});

test("keys of a simulated tree ascend", () => {
  for (const { keys } of Object.values(SOURCES))
    expect(keys.every((key, index) => index === 0 || compareBytes(keys[index - 1]!, key) < 0)).toBe(true);
});

test("the check finds a fraction by key space, and a time left that stands still", async () => {
  const end = await simulateRun({ ...SOURCES["two large folders"], workers: 4, rate: () => 25 });
  const byTime = end.shown.map((each) => ({ ...each, fraction: Math.min(1, (2 * each.atMs) / end.endMs) }));
  expect(breaches({ ...end, shown: byTime }, { eta: false }).length).toBeGreaterThan(10);
  const stuck = end.shown.map((each) => ({ ...each, remainingMs: 1000 }));
  expect(breaches({ ...end, shown: stuck }, { eta: true }).length).toBeGreaterThan(10);
});
