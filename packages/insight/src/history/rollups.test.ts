// Notes have a size limit. A history that grows past it could not be written, and the run would have none.
import { MAX_NOTE_VALUE_SIZE, MAX_NOTES_PER_SET } from "@gossip/coordination";
import type { ShardId, WorkerId } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHeat, encodeHeat } from "./heat-column.ts";
import { heatMap } from "./heat-map.ts";
import { noteOfLeases, noteOfSteps, readNotes } from "./history-notes.ts";
import { historySeries } from "./history-series.ts";
import { LeaseLog } from "./lease-log.ts";
import { leaseTimeline } from "./lease-timeline.ts";
import { Rollups, TIERS } from "./rollups.ts";

const START = 1_700_000_000_000;
const sum = (values: Iterable<number | null>): number =>
  [...values].reduce<number>((all, value) => all + (value ?? 0), 0);

const rounded = (value: object): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === "number" ? Math.round(inner) : inner)));

/** A full history of a run that is busy everywhere. */
function busyHistory(): Rollups {
  const rollups = new Rollups();
  const heat = new Map(Array.from({ length: 300 }, (_, index) => [5 * index, 1 + (index % 97)]));
  const endMs = START + 4 * 86_400_000;
  for (let atMs = START; atMs < endMs - 700_000; atMs += 600_000)
    rollups.add({ fromMs: atMs, toMs: atMs + 600_000, items: 1e9, failures: 1e6, workers: 9999, heat });
  for (let atMs = endMs - 700_000; atMs < endMs; atMs += 1000)
    rollups.add({ fromMs: atMs, toMs: atMs + 1000, items: 1e6, failures: 1e3, workers: 9999, heat });
  return rollups;
}

describe("a heat column", () => {
  test("keeps what is in it, to a few percent, or joins buckets until it is small", () => {
    const entries = fc.array(fc.tuple(fc.nat(1499), fc.double({ min: 0.5, max: 1e6, noNaN: true })), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(entries, fc.integer({ min: 12, max: 2000 }), (cells, size) => {
        const heat = new Map(cells);
        const encoded = encodeHeat(heat, size);
        expect(encoded.bytes.length).toBeLessThanOrEqual(size);
        const decoded = decodeHeat(encoded);
        expect(Math.abs(sum(decoded.values()) - sum(heat.values()))).toBeLessThanOrEqual(0.05 * sum(heat.values()) + 1);
        if (encoded.shift > 0) return;
        for (const [bucket, items] of heat) expect(decoded.get(bucket)! / items).toBeCloseTo(1, 0);
      }),
    );
  });
});

describe("rollups", () => {
  test("share items out over steps, and every tier adds up to the same", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(1000)), { maxLength: 50 }), (looks) => {
        const rollups = new Rollups();
        let atMs = START;
        for (const [ms, items] of looks) {
          rollups.add({ fromMs: atMs, toMs: (atMs += ms), items, failures: 0, workers: 1, heat: new Map() });
        }
        for (const { stepMs } of TIERS)
          expect(sum([...rollups.steps(stepMs).values()].map(({ items }) => items))).toBeCloseTo(
            sum(looks.map(([, items]) => items)),
          );
      }),
    );
  });

  test("a full history has a bounded number of steps, and fits in notes", () => {
    const rollups = busyHistory();
    const dirty = rollups.takeDirty();
    for (const { stepMs, steps } of TIERS) expect(rollups.steps(stepMs).size).toBeLessThanOrEqual(steps);
    const notes = new Map(
      dirty.map((each) => {
        const { key, value } = noteOfSteps(rollups, each);
        expect(value!.length).toBeLessThanOrEqual(MAX_NOTE_VALUE_SIZE);
        return [new TextDecoder().decode(key), { space: "rollup" as const, key, value: value! }];
      }),
    );
    expect(notes.size).toBeLessThanOrEqual(MAX_NOTES_PER_SET);
    const read = readNotes([...notes.values()]).rollups;
    const nowMs = START + 4 * 86_400_000;
    for (const { stepMs } of TIERS)
      expect(rounded(historySeries(read, { stepMs, nowMs }))).toEqual(
        rounded(historySeries(rollups, { stepMs, nowMs })),
      );
  });

  test("a heat map is finer near now, within its size, and shows each item once", () => {
    const rollups = new Rollups();
    // Half an hour at 10 items a second, all in the upper half of the keys.
    for (let atMs = START; atMs < START + 1_800_000; atMs += 1000)
      rollups.add({ fromMs: atMs, toMs: atMs + 1000, items: 10, failures: 0, workers: 1, heat: new Map([[1000, 10]]) });
    const [fromMs, toMs] = [START, START + 1_800_000];
    const { columns, cells, max } = heatMap(rollups, { from: 0, to: 1, fromMs, toMs, keys: 30, columns: 60 });
    expect(columns.length).toBeLessThanOrEqual(60);
    const width = ({ fromMs: from, toMs: to }: (typeof columns)[number]): number => to - from;
    expect(width(columns.at(-1)!)).toBeLessThan(width(columns[0]!));
    for (let index = 1; index < columns.length; index++)
      expect(columns[index]!.fromMs).toBeGreaterThanOrEqual(columns[index - 1]!.toMs);
    expect(new Set(cells.filter((_, index) => index % 3 === 1))).toEqual(new Set([20]));
    expect(max).toBeCloseTo(10, 0);
    expect(heatMap(rollups, { from: 0, to: 0.5, fromMs, toMs, keys: 30, columns: 60 }).cells).toEqual([]);
  });
});

describe("the lease log", () => {
  const [shard, other] = [1n as ShardId, 2n as ShardId];
  const [worker, thief] = [10n as WorkerId, 11n as WorkerId];

  test("shows what each worker held, and how it ended", () => {
    const log = new LeaseLog();
    log.add({ kind: "ShardAcquired", atMs: 1, shard, worker });
    log.add({ kind: "ShardAcquired", atMs: 2, shard: other, worker });
    log.add({ kind: "ShardTakenOver", atMs: 5, shard, worker: thief });
    log.add({ kind: "WriterRejected", atMs: 6, shard, worker });
    log.add({ kind: "ShardCompleted", atMs: 7, shard: other, worker: undefined });
    const [first, second] = leaseTimeline(log.events, { fromMs: 0, toMs: 10 });
    expect(first!.spans).toEqual([
      { shard, fromMs: 1, toMs: 5, end: "taken" },
      { shard: other, fromMs: 2, toMs: 7, end: "completed" },
    ]);
    expect(first!.marks.map(({ kind }) => kind)).toEqual(["claim", "claim", "rejected"]);
    expect(second!.spans).toEqual([{ shard, fromMs: 5, toMs: undefined, end: undefined }]);
  });

  test("is a ring of notes: the last events survive, in order", () => {
    const log = new LeaseLog();
    const notes = new Map<string, Uint8Array>();
    for (let index = 0; index < 10_000; index++) {
      log.add({ kind: "ShardAcquired", atMs: index, shard: BigInt(index) as ShardId, worker });
      if (index % 40 !== 39) continue;
      for (const note of log.dirtyNotes()) {
        const { key, value } = noteOfLeases(log, note);
        expect(value!.length).toBeLessThanOrEqual(MAX_NOTE_VALUE_SIZE);
        notes.set(new TextDecoder().decode(key), value!);
      }
      log.written();
    }
    expect(notes.size).toBe(12);
    const stored = [...notes].map(([key, value]) => ({
      space: "rollup" as const,
      key: new TextEncoder().encode(key),
      value,
    }));
    const { events } = readNotes(stored).leases;
    expect(events.length).toBeGreaterThan(1000);
    expect(events.map(({ atMs }) => atMs)).toEqual(events.map((_, index) => 10_000 - events.length + index));
  });

  test("more events than a display can show are dropped, and that is said", () => {
    const log = new LeaseLog();
    for (let index = 0; index < 1000; index++) log.add({ kind: "ShardAcquired", atMs: index, shard, worker });
    expect(log.events.length).toBe(300);
    expect(log.isTruncated).toBe(true);
  });
});

test("damaged notes are left out", () => {
  const note = (key: string, text: string) => ({
    space: "rollup" as const,
    key: new TextEncoder().encode(key),
    value: new TextEncoder().encode(text),
  });
  const read = readNotes([
    note("history/1s/00", "{"),
    note("history/1m/00", '{"version":1,"stepMs":60000,"rows":[[1],["a"],[1,2,3,4,99,"x"]]}'),
    note("history/leases/00", '{"version":1,"first":0,"events":[[1,2]]}'),
    note("history/writer", '{"version":1,"writer":3}'),
    note("history/other", "[]"),
  ]);
  expect(read.rollups.steps(60_000).size).toBe(0);
  expect(read.leases.events).toEqual([]);
  expect(read.writer).toBeUndefined();
});
