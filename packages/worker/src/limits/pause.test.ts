// A pause that leaves a worker running does not protect the service that the operator wants to spare. A pause that ends
// the work, loses an item or does one twice costs more than it saves.

import { Coordinator, type CoordinatorApi } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import { OpId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { runWorkers } from "../runtime/run-workers.ts";
import type { WorkerEvent } from "../runtime/worker-event.ts";
import { LEASE_MS, numberedSource, RUN, TokenSink, World, type NumberedItem } from "../runtime/world.fixture.ts";

const COUNT = 60;
const all = Array.from({ length: COUNT }, (_, n) => n);

async function setUp({ itemMs = 100 }: { readonly itemMs?: number | ((n: number) => number) } = {}) {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source, 4);
  const events: WorkerEvent[] = [];
  const begun: { readonly n: number; readonly atMs: number }[] = [];
  const sink = new TokenSink();
  const options = {
    run: RUN,
    source,
    time: world.time,
    sink,
    concurrency: 2,
    checkpointEvery: { ms: 200 },
    onEvent: (event: WorkerEvent) => void events.push(event),
    process: async ({ n }: NumberedItem) => {
      begun.push({ n, atMs: world.time.nowMs() });
      await world.time.sleep(typeof itemMs === "number" ? itemMs : itemMs(n));
    },
  };
  const set = async (paused: boolean): Promise<void> => {
    unwrap(await world.coordinator.changeRunSettings({ ...RUN, change: { paused } }));
  };
  const at = (ms: number, act: () => unknown): void => void world.time.startTimer(ms, () => void act());
  const leased = async (coordinator: CoordinatorApi = world.coordinator) =>
    unwrap(await coordinator.listShards({ ...RUN, filter: { isLeased: true } })).items.length;
  return { world, options, events, begun, sink, set, at, leased };
}

const kindsOf = (events: readonly WorkerEvent[], ...kinds: readonly WorkerEvent["kind"][]) =>
  events.map(({ kind }) => kind).filter((kind) => kinds.includes(kind));

describe("a paused run", () => {
  test("starts nothing more, holds no shard, and goes on when it is resumed", async () => {
    // Six seconds of work for two processes with two shards each, so that most of it is left when the pause begins.
    const { world, options, events, begun, sink, set, at, leased } = await setUp({ itemMs: 400 });
    const held: number[] = [];
    at(500, () => set(true));
    // More than a lease, so that shards held by mistake would show as lost.
    at(500 + 4 * LEASE_MS, async () => held.push(await leased()));
    at(500 + 5 * LEASE_MS, () => set(false));
    const workers = [world.connect(), world.connect()].map((coordinator) => runWorkers({ ...options, coordinator }));

    const summaries = await world.time.runUntil(Promise.all(workers));

    expect(summaries.map(({ stopped }) => stopped.kind)).toEqual(["Done", "Done"]);
    expect(held).toEqual([0]);
    // A pause is seen within a second of the change, a resumption within a second of its own.
    const inPause = begun.filter(({ atMs }) => atMs > 1600 && atMs < 500 + 5 * LEASE_MS);
    expect(inPause).toEqual([]);
    expect(begun.filter(({ atMs }) => atMs > 500 + 5 * LEASE_MS).length).toBeGreaterThan(COUNT / 2);
    expect(kindsOf(events, "RunPaused", "RunResumed", "LeaseLost").toSorted()).toEqual([
      "RunPaused",
      "RunPaused",
      "RunResumed",
      "RunResumed",
    ]);
    // No item is begun twice: those in progress have finished.
    expect(begun.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(all);
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
  });

  test("has not begun when a worker starts: it waits", async () => {
    const { world, options, begun, set, at } = await setUp();
    await set(true);
    at(60_000, () => set(false));

    const summary = await world.time.runUntil(runWorkers({ ...options, coordinator: world.coordinator }));

    expect(begun[0]!.atMs).toBeGreaterThanOrEqual(60_000);
    expect(summary).toMatchObject({ items: COUNT, stopped: { kind: "Done" }, pausedMs: undefined });
  });

  test("lets an item finish that takes longer than the lease and the grace period", async () => {
    const { world, options, begun, events, set, at } = await setUp({ itemMs: (n) => (n === 0 ? 10 * LEASE_MS : 10) });
    at(100, () => set(true));
    at(12 * LEASE_MS, () => set(false));

    const summary = await world.time.runUntil(runWorkers({ ...options, coordinator: world.coordinator, graceMs: 10 }));

    expect(summary).toMatchObject({ items: COUNT, stopped: { kind: "Done" }, shards: { lost: 0 } });
    expect(begun.filter(({ n }) => n === 0)).toHaveLength(1);
    expect(kindsOf(events, "RunPaused", "RunResumed")).toEqual(["RunPaused", "RunResumed"]);
  });

  test("gives an item no more than the grace period once the worker is stopped", async () => {
    const { world, options, set, at } = await setUp({ itemMs: (n) => (n === 0 ? 1_000_000 : 10) });
    const stop = new AbortController();
    at(100, () => set(true));
    at(20_000, () => stop.abort());
    const { signal } = stop;

    const summary = await world.time.runUntil(
      runWorkers({ ...options, coordinator: world.coordinator, graceMs: 500, signal }),
    );

    expect(summary.stopped.kind).toBe("Aborted");
    expect(summary.elapsedMs).toBeGreaterThanOrEqual(20_500);
    expect(summary.elapsedMs).toBeLessThan(21_000);
  });

  test("ends its workers when it is canceled, and when it is deleted", async () => {
    const { world, options, set, at } = await setUp();
    await set(true);
    const work = runWorkers({ ...options, coordinator: world.coordinator });
    at(5000, async () => unwrap(await world.coordinator.cancelRun({ ...RUN, opId: OpId.fromRaw(5n) })));
    expect((await world.time.runUntil(work)).stopped).toEqual({ kind: "RunTerminal", status: "Cancelled" });

    unwrap(await world.coordinator.deleteRun(RUN));
    const late = await world.time.runUntil(runWorkers({ ...options, coordinator: world.coordinator }));
    expect(late.stopped.kind).toBe("RunMissing");
  });

  test("survives an outage of its store that is shorter than its patience, and no longer one", async () => {
    const { world, options, events, set, at } = await setUp();
    let isDown = false;
    const faulty = new FaultInjectingStore(world.store, {
      onCommit: () => (isDown ? "Failed" : undefined),
      onRead: () => (isDown ? "Failed" : undefined),
    });
    const coordinator = new Coordinator({
      store: faulty,
      clock: world.clock,
      retry: { maxAttempts: 1, sleep: (ms) => world.time.sleep(ms) },
    });
    await set(true);
    at(10_000, () => (isDown = true));
    at(40_000, () => (isDown = false));
    at(50_000, () => set(false));
    const patient = await world.time.runUntil(runWorkers({ ...options, coordinator, patienceMs: 60_000 }));
    expect(patient).toMatchObject({ items: COUNT, stopped: { kind: "Done" } });
    expect(kindsOf(events, "StoreUnavailable", "StoreBack")).toEqual(["StoreUnavailable", "StoreBack"]);

    const other = await setUp();
    await other.set(true);
    const hopeless = new Coordinator({
      store: new FaultInjectingStore(other.world.store, { onRead: () => (isDown ? "Failed" : undefined) }),
      clock: other.world.clock,
      retry: { maxAttempts: 1, sleep: (ms) => other.world.time.sleep(ms) },
    });
    other.at(10_000, () => (isDown = true));
    const impatient = runWorkers({ ...other.options, coordinator: hopeless, patienceMs: 20_000 });
    expect((await other.world.time.runUntil(impatient)).stopped.kind).toBe("StoreFailed");
  });
});
