// A store that cannot be reached must neither crash a worker nor let it believe that it holds what is another's by now; and what it may have
// done before it went silent must not be done twice.

import { Coordinator } from "@gossip/coordination";
import { FaultInjectingStore, type CommitFault } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { runWorkers } from "./run-workers.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { LEASE_MS, type NumberedItem, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const COUNT = 100;

async function setUp() {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source);
  let fault: { commit?: CommitFault; read?: "Failed" } = {};
  const faulty = new FaultInjectingStore(world.store, { onCommit: () => fault.commit, onRead: () => fault.read });
  const retry = { maxAttempts: 1, sleep: (ms: number) => world.time.sleep(ms) };
  const coordinator = new Coordinator({ store: faulty, clock: world.clock, retry });
  const events: WorkerEvent[] = [];
  const sink = new TokenSink();
  const base = {
    coordinator,
    run: RUN,
    source,
    time: world.time,
    sink,
    onEvent: (event: WorkerEvent) => void events.push(event),
    checkpointEvery: { ms: 200 },
  };
  const fail = (next: typeof fault): void => void (fault = next);
  return { world, base, events, sink, fail };
}

const all = Array.from({ length: COUNT }, (_, n) => n);

describe("a store that fails", () => {
  test.each(["Failed", "UnknownMade", "UnknownNotMade"] as const)(
    "for less than a lease costs nothing but time (%s)",
    async (commit) => {
      const { world, base, events, sink, fail } = await setUp();
      const process = async ({ n }: NumberedItem) => {
        await world.time.sleep(50);
        if (n === 30) fail({ commit });
        if (n === 50) fail({});
      };

      const summary = await world.time.runUntil(runWorkers({ ...base, process }));

      expect(summary).toMatchObject({ items: COUNT, shards: { completed: 1, lost: 0 } });
      expect(events).toContainEqual(expect.objectContaining({ kind: "StoreFailed", operation: "checkpoint" }));
      expect(await sink.results(world.coordinator)).toEqual(all);
    },
  );

  test("for longer than a lease loses the shard, because its holder is unknown; the work ends if the store stays away", async () => {
    const { world, base, events, fail } = await setUp();
    let aborted: unknown;
    const process = async ({ n }: NumberedItem, { signal }: { signal: AbortSignal }) => {
      await world.time.sleep(50);
      if (n === 30) fail({ commit: "Failed", read: "Failed" });
      if (n === 30) signal.addEventListener("abort", () => (aborted = signal.reason));
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, patienceMs: 4 * LEASE_MS }));

    expect(aborted).toMatchObject({ kind: "Lost", cause: "Unconfirmed" });
    expect(summary).toMatchObject({
      stopped: { kind: "StoreFailed", error: { kind: "BackendError" } },
      shards: { lost: 1, completed: 0 },
    });
    expect(events).toContainEqual(expect.objectContaining({ kind: "LeaseLost", cause: "Unconfirmed" }));
  });

  test("makes a worker that is fast wait, and not ask in a loop", async () => {
    const { world, base, events, fail } = await setUp();
    let begun = 0;
    const process = ({ n }: NumberedItem) => {
      begun++;
      if (n === 20) fail({ commit: "Failed" });
      if (n === 20) world.time.startTimer(1000, () => fail({}));
    };

    const summary = await world.time.runUntil(
      runWorkers({ ...base, process, checkpointEvery: { items: 10, ms: 200 } }),
    );

    expect(summary).toMatchObject({ items: COUNT, shards: { completed: 1, lost: 0 } });
    expect(begun).toBe(COUNT);
    // Pauses of at least 50, 100 and then 125 ms fit ten attempts into the second.
    expect(events.filter(({ kind }) => kind === "StoreFailed").length).toBeLessThanOrEqual(10);
  });

  test("at the start ends the work once patience runs out", async () => {
    const { world, base, fail } = await setUp();
    fail({ read: "Failed" });
    const startMs = world.time.nowMs();
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => undefined, patienceMs: 700 }));
    expect(summary).toMatchObject({ stopped: { kind: "StoreFailed" }, items: 0 });
    expect(world.time.nowMs() - startMs).toBeGreaterThanOrEqual(700);
  });

  test("to make room for a split leaves the items where they were, though the work had come to the cut meanwhile", async () => {
    const { world, base, events } = await setUp();
    const slow = new FaultInjectingStore(world.store, { delay: () => world.time.sleep(200) });
    const source = numberedSource(COUNT, { batchSize: COUNT });
    const coordinator = new Coordinator({ store: slow, clock: world.clock, limits: { maxShardsPerTenant: 1 } });
    const seen: number[] = [];
    const process = async ({ n }: NumberedItem) => {
      seen.push(n);
      await world.time.sleep(5);
    };

    const summary = await world.time.runUntil(
      runWorkers({
        ...base,
        coordinator,
        source,
        process,
        concurrency: 2,
        checkpointEvery: { ms: 5000 },
        split: { minHandoverMs: 0 },
      }),
    );

    expect(summary).toMatchObject({ items: COUNT, splits: 0, shards: { completed: 1, lost: 0 } });
    expect(events).toContainEqual(expect.objectContaining({ kind: "Waiting" }));
    expect(seen).toEqual(all);
  });

  test("while a shard is split leaves its items to one of the two", async () => {
    const { world, base, sink, fail, events } = await setUp();
    let isFirst = true;
    const process = async () => {
      await world.time.sleep(20);
    };
    const onEvent = (event: WorkerEvent): void => {
      events.push(event);
      // The first split is asked for right after this: its fate stays unknown for a while, and it was made.
      if (event.kind !== "Waiting" || !isFirst) return;
      isFirst = false;
      fail({ commit: "UnknownMade" });
      world.time.startTimer(900, () => fail({}));
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, onEvent, concurrency: 2 }));

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { lost: 0 } });
    expect(summary.splits).toBeGreaterThan(0);
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
    expect(unwrap(await world.coordinator.getRunProgress(RUN)).active).toBe(0);
  });
});
