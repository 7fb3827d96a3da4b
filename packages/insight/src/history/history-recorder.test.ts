// Two processes that both write the history of a run would undo each other's steps.
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { KeyAxis } from "../axis/key-axis.ts";
import type { RunChange } from "../sample/run-change.ts";
import { RunSampler, type RunSample } from "../sample/run-sampler.ts";
import { continueHistory, HistoryRecorder, readHistory } from "./history-recorder.ts";
import { recentRate } from "./history-series.ts";

const START = 1_700_000_000_000;
const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };

async function makeStore(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const coordinator = new Coordinator({ store, clock: systemClock(() => START) });
  unwrap(await coordinator.createRun({ ...request, config: { leaseDuration: 1000n } }));
  return store;
}

/** A look in which `items` were done within a second. */
function look(second: number, items: number): RunSample {
  const axis = new KeyAxis([new Uint8Array(0)], new Uint8Array(0));
  const sampler = new RunSampler({ axis, leaseMs: 1000 });
  const atMs = START + 1000 * (second + 1);
  return { ...sampler.end(BigInt(atMs) as never), atMs, sinceMs: atMs - 1000, newItems: items };
}

const itemsIn = async (store: MemoryStore): Promise<number> => {
  const history = await readHistory(store, request);
  return [...history!.rollups.steps(1000).values()].reduce((sum, { items }) => sum + items, 0);
};

test("one process writes, and another goes on when it is gone", async () => {
  const store = await makeStore();
  const [first, second] = ["a", "b"].map((writer) => new HistoryRecorder({ store, run: request, writer }));
  for (let at = 0; at < 10; at++) {
    for (const recorder of [first!, second!]) {
      recorder.add(look(at, 5), { fraction: 0.5 });
      await recorder.flush(START + 1000 * (at + 1));
    }
  }
  expect([first!.isWriter, second!.isWriter]).toEqual([true, false]);
  // The last look of the first was not due for a write yet.
  expect(await itemsIn(store)).toBe(30);
  expect((await readHistory(store, request))!.writer).toMatchObject({ writer: "a", fraction: 0.5 });
  // The first is killed. Its entry is old after four intervals.
  for (let at = 10; at < 40; at++) {
    second!.add(look(at, 5));
    await second!.flush(START + 1000 * (at + 1));
  }
  expect(second!.isWriter).toBe(true);
  expect(await itemsIn(store)).toBeGreaterThanOrEqual(5 * 36);
});

test("after a kill, a process that saw the run meanwhile goes on, and not one that came later", async () => {
  const store = await makeStore();
  const [first, second, late] = ["a", "b", "c"].map((writer) => new HistoryRecorder({ store, run: request, writer }));
  for (let at = 0; at < 10; at++) {
    for (const recorder of [first!, second!]) {
      recorder.add(look(at, 5));
      await recorder.flush(START + 1000 * (at + 1));
    }
  }
  // The first is killed. A page is opened when its entry is old, and looks before the second process does.
  for (let at = 10; at < 50; at++)
    for (const recorder of at < 25 ? [second!] : [late!, second!]) {
      recorder.add(look(at, 5));
      await recorder.flush(START + 1000 * (at + 1));
    }
  expect([second!.isWriter, late!.isWriter]).toEqual([true, false]);
  const { rollups } = (await readHistory(store, request))!;
  const recorded = [...rollups.steps(1000).keys()].toSorted((a, b) => a - b);
  expect(recorded.at(-1)! - recorded[0]! + 1).toBe(recorded.length);
});

test("without such a process, the one that came later goes on", async () => {
  const store = await makeStore();
  const [first, late] = ["a", "b"].map((writer) => new HistoryRecorder({ store, run: request, writer }));
  first!.add(look(0, 5));
  await first!.flush(START + 1000);
  for (let at = 10; at < 60 && !late!.isWriter; at++) {
    late!.add(look(at, 5));
    await late!.flush(START + 1000 * (at + 1));
  }
  expect(late!.isWriter).toBe(true);
});

test("a process that ends lets another write at once", async () => {
  const store = await makeStore();
  const [first, second] = ["a", "b"].map((writer) => new HistoryRecorder({ store, run: request, writer }));
  first!.add(look(0, 5));
  await first!.flush(START + 1000);
  await first!.flush(START + 1100, { isLast: true });
  await second!.flush(START + 1200);
  expect(second!.isWriter).toBe(true);
  expect(await itemsIn(store)).toBe(5);
});

test("what a process saw continues the history that another stored", async () => {
  const store = await makeStore();
  const [writer, watcher] = ["a", "b"].map((name) => new HistoryRecorder({ store, run: request, writer: name }));
  const leaseAt = (second: number) =>
    ({ kind: "ShardAcquired", atMs: START + 1000 * second, shard: 1n, worker: 7n }) as unknown as RunChange;
  for (let at = 0; at < 6; at++) {
    const sample = { ...look(at, 5), changes: [leaseAt(at)] };
    writer!.add(sample);
    if (at >= 3) watcher!.add(sample);
    await writer!.flush(START + 1000 * (at + 1));
  }
  // The writer is killed after it wrote six seconds, of which the watcher saw three.
  for (let at = 6; at < 9; at++) watcher!.add({ ...look(at, 2), changes: [leaseAt(at)] });
  const stored = (await readHistory(store, request))!;
  expect(recentRate(stored.rollups, START + 9000)).toBe(5);
  const { rollups, leases } = continueHistory({ stored, seen: watcher!.history });
  const first = START / 1000;
  const items = Array.from({ length: 9 }, (_, at) => rollups.steps(1000).get(first + at)?.items);
  expect(items).toEqual([5, 5, 5, 5, 5, 5, 2, 2, 2]);
  expect(recentRate(rollups, START + 9000)).toBe(4);
  expect(rollups.steps(60_000).size).toBe(1);
  expect(leases.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 9 }, (_, at) => START + 1000 * at));
});

test("a store that fails, or has no such run, stops nothing", async () => {
  const failing = new HistoryRecorder({
    store: {
      listNotes: () => {
        throw new Error("gone");
      },
      commit: () => [],
    },
    run: request,
    writer: "a",
  });
  await failing.flush(START);
  const lost = new HistoryRecorder({ store: new MemoryStore(), run: request, writer: "a" });
  lost.add(look(0, 5));
  await lost.flush(START);
  expect([failing.isWriter, lost.isWriter]).toEqual([false, false]);
});
