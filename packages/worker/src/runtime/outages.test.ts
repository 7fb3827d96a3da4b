// A server that is restarted must not end the work, park a shard, or lose or double a result: after ten minutes people are
// awake, after sixteen seconds they are not.

import { Coordinator } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { SinkFailed } from "../sinks/sink-failed.ts";
import type { ShardSink, SinkRequest } from "../sinks/sink.ts";
import { SourceReadFailed } from "../sources/source-read-failed.ts";
import { Outage } from "./outage.ts";
import { runWorkers } from "./run-workers.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { LEASE_MS, numberedSource, RUN, TokenSink, World, type NumberedItem } from "./world.fixture.ts";

const COUNT = 100;
const all = Array.from({ length: COUNT }, (_, n) => n);

function ofKinds(events: readonly WorkerEvent[], ...kinds: readonly WorkerEvent["kind"][]): string[] {
  return events.map(({ kind }) => kind).filter((kind) => kinds.includes(kind));
}

test("an outage begins at the first failure, ends at the first success, and is reported once", () => {
  const world = new World();
  const told: (string | number)[] = [];
  const outage = new Outage(world.time, { onStart: () => told.push("start"), onEnd: (ms) => told.push(ms) });
  outage.worked();
  expect(outage.ms).toBeUndefined();
  expect(outage.failed()).toBe(0);
  world.time.block(70);
  expect(outage.failed()).toBe(70);
  expect(outage.ms).toBe(70);
  outage.worked();
  expect([told, outage.ms]).toEqual([["start", 70], undefined]);
});

describe("a store that is unavailable", () => {
  async function setUp() {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source, 3);
    let isDown = false;
    const faulty = new FaultInjectingStore(world.store, {
      onCommit: () => (isDown ? "Failed" : undefined),
      onRead: () => (isDown ? "Failed" : undefined),
    });
    const retry = { maxAttempts: 1, sleep: (ms: number) => world.time.sleep(ms) };
    const coordinator = new Coordinator({ store: faulty, clock: world.clock, retry });
    const events: WorkerEvent[] = [];
    const downMs: (number | undefined)[] = [];
    const sink = new TokenSink();
    const base = {
      coordinator,
      run: RUN,
      source,
      time: world.time,
      sink,
      concurrency: 2,
      onEvent: (event: WorkerEvent) => void events.push(event),
      onProgress: ({ storeDownMs }: { storeDownMs: number | undefined }) => void downMs.push(storeDownMs),
      checkpointEvery: { ms: 200 },
    };
    const goDown = (forMs: number): void => {
      isDown = true;
      world.time.startTimer(forMs, () => (isDown = false));
    };
    return { world, base, sink, events, downMs, goDown };
  }

  test.each([0.3, 1.5, 20, 150])("for %d leases is waited for, and nothing is lost or doubled", async (leases) => {
    const { world, base, sink, events, downMs, goDown } = await setUp();
    const outageMs = leases * LEASE_MS;
    let isFirst = true;
    const process = async ({ n }: NumberedItem) => {
      await world.time.sleep(50);
      if (n === 10 && isFirst) goDown(outageMs);
      if (n === 10) isFirst = false;
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process }));

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { parked: 0 }, failures: 0 });
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
    expect(ofKinds(events, "StoreUnavailable", "StoreBack")).toEqual(["StoreUnavailable", "StoreBack"]);
    const back = events.find((event) => event.kind === "StoreBack");
    expect(back!.afterMs).toBeGreaterThan(outageMs / 2);
    for (const event of events) if (event.kind === "LeaseLost") expect(event.isTaken).toBe(false);
    if (leases > 1) expect(downMs).toContainEqual(expect.any(Number));
    expect([downMs.at(-1), summary.storeDownMs]).toEqual([undefined, undefined]);
  });

  test("while a shard is claimed leaves the shard to the worker that claimed it", async () => {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source);
    let isDown = false;
    const faulty = new FaultInjectingStore(world.store, {
      onCommit: (set) => {
        if (set.kind !== "UpdateShard" || isDown || world.time.nowMs() > 0) return isDown ? "Failed" : undefined;
        // The first claim is made, and its result is lost.
        isDown = true;
        world.time.startTimer(500, () => (isDown = false));
        return "UnknownMade";
      },
      onRead: () => (isDown ? "Failed" : undefined),
    });
    const retry = { maxAttempts: 1, sleep: (ms: number) => world.time.sleep(ms) };
    const coordinator = new Coordinator({ store: faulty, clock: world.clock, retry });
    const base = { coordinator, run: RUN, source, time: world.time };
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT, shards: { claimed: 1, lost: 0 } });
    expect(world.time.nowMs()).toBeLessThan(LEASE_MS / 2);
  });

  test("when the work begins is waited for too", async () => {
    const { world, base, sink, events, goDown } = await setUp();
    goDown(60_000);
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT });
    expect(ofKinds(events, "StoreUnavailable", "StoreBack")).toEqual(["StoreUnavailable", "StoreBack"]);
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
  });

  test("for longer than patience ends the work", async () => {
    const { world, base, goDown } = await setUp();
    const process = async ({ n }: NumberedItem) => {
      await world.time.sleep(50);
      if (n === 10) goDown(1_000_000_000);
    };
    const startMs = world.time.nowMs();
    const summary = await world.time.runUntil(runWorkers({ ...base, process }));
    expect(summary).toMatchObject({ stopped: { kind: "StoreFailed" } });
    expect(world.time.nowMs() - startMs).toBeGreaterThan(600_000);
    expect(world.time.nowMs() - startMs).toBeLessThan(700_000);
  });
});

test("a shard is lost to another worker exactly when another worker took it", async () => {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source);
  const events: WorkerEvent[] = [];
  let isTaken = false;
  const process = async ({ n }: NumberedItem) => {
    await world.time.sleep(10);
    if (n !== 50 || isTaken) return;
    isTaken = true;
    // The loop stands still for longer than the lease, and another process claims the shard.
    world.clock.advance(BigInt(2 * LEASE_MS));
    const [other] = unwrap(await world.connect().claimMany({ ...RUN, worker: 77n as never, count: 1 }));
    unwrap(await other!.release());
  };
  const base = { coordinator: world.coordinator, run: RUN, source, time: world.time, process };
  await world.time.runUntil(runWorkers({ ...base, onEvent: (event) => void events.push(event) }));
  expect(events.filter(({ kind }) => kind === "LeaseLost")).toMatchObject([{ cause: "StaleFence", isTaken: true }]);
});

describe("a source that is unavailable", () => {
  const refused = (): Error => Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  const unreadable = (): Error => new SourceReadFailed({ kind: "SourceUnreadable", reason: "it is away" });

  async function setUp(fail: (from: number, nowMs: number) => Error | undefined) {
    const world = new World();
    const source = numberedSource(COUNT, {
      batchSize: 5,
      between: async (from) => {
        const error = fail(from, world.time.nowMs());
        if (error !== undefined) throw error;
      },
    });
    await world.start(source, 4);
    const events: WorkerEvent[] = [];
    const sink = new TokenSink();
    const base = {
      coordinator: world.coordinator,
      run: RUN,
      source,
      time: world.time,
      sink,
      concurrency: 2,
      process: () => world.time.sleep(50),
      split: false,
      onEvent: (event: WorkerEvent) => void events.push(event),
    } as const;
    return { world, base, events, sink };
  }

  test.each([
    ["a recognized error", refused],
    ["an error of the source without a known code", unreadable],
  ])("parks nothing, and the work resumes: %s", async (_name, error) => {
    const isOut = (nowMs: number): boolean => nowMs > 300 && nowMs < 300_000;
    const { world, base, events, sink } = await setUp((_from, nowMs) => (isOut(nowMs) ? error() : undefined));
    const summary = await world.time.runUntil(runWorkers(base));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT, shards: { parked: 0, lost: 0 } });
    expect(ofKinds(events, "SourceUnavailable", "SourceBack")).toEqual(["SourceUnavailable", "SourceBack"]);
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
    expect(world.time.nowMs()).toBeLessThan(330_000);
  });

  test("for longer than patience ends the work and releases the shards", async () => {
    const { world, base, events } = await setUp((from) => (from >= 10 ? refused() : undefined));
    const summary = await world.time.runUntil(runWorkers({ ...base, patienceMs: 60_000 }));
    expect(summary).toMatchObject({ stopped: { kind: "SourceFailed" }, shards: { parked: 0, released: 2 } });
    expect(summary.sourceDownMs).toBeGreaterThanOrEqual(60_000);
    expect(events).toContainEqual(expect.objectContaining({ kind: "ShardReleased" }));
    // Everything can be claimed again.
    const { value: sessions } = (await world.coordinator.claimMany({
      ...RUN,
      worker: 77n as never,
      count: 4,
    })) as unknown as { value: readonly unknown[] };
    expect(sessions).toHaveLength(4);
  });

  test("in one place only is the fault of that place: its shard is parked while the others are done", async () => {
    const { world, base, events } = await setUp((from) => (from === 30 ? unreadable() : undefined));
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => world.time.sleep(1000) }));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { parked: 1, completed: 3 } });
    expect(ofKinds(events, "SourceUnavailable")).toEqual([]);
  });
});

describe("results that have no room", () => {
  /** A sink whose disk is full for some time. */
  class FullSink extends TokenSink {
    isFull = false;

    override async open(request: SinkRequest): Promise<ShardSink<NumberedItem, unknown>> {
      const opened = await super.open(request);
      return {
        ...opened,
        flush: async () => {
          if (this.isFull) throw new SinkFailed("DiskFull", "no space left");
          return opened.flush();
        },
      };
    }
  }

  async function setUp() {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source, 2);
    const events: WorkerEvent[] = [];
    const sink = new FullSink();
    const base = {
      coordinator: world.coordinator,
      run: RUN,
      source,
      time: world.time,
      sink,
      checkpointEvery: { ms: 200 },
      onEvent: (event: WorkerEvent) => void events.push(event),
    };
    return { world, base, sink, events };
  }

  test.each([1000, 20 * LEASE_MS])("for %i ms wait for it, and keep their lease", async (fullMs) => {
    const { world, base, sink, events } = await setUp();
    const process = async ({ n }: NumberedItem) => {
      await world.time.sleep(50);
      if (n !== 20) return;
      sink.isFull = true;
      world.time.startTimer(fullMs, () => (sink.isFull = false));
    };
    const summary = await world.time.runUntil(runWorkers({ ...base, process }));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT, shards: { lost: 0, completed: 2 } });
    expect(ofKinds(events, "SinkUnavailable", "SinkBack")).toEqual(["SinkUnavailable", "SinkBack"]);
    expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
  });

  test("for longer than patience end the work, and sooner when it is stopped", async () => {
    const { world, base, sink } = await setUp();
    const stop = new AbortController();
    const process = async ({ n }: NumberedItem) => {
      await world.time.sleep(50);
      if (n === 20) sink.isFull = true;
    };
    const failed = await world.time.runUntil(runWorkers({ ...base, process, patienceMs: 60_000 }));
    expect(failed).toMatchObject({ stopped: { kind: "SinkFailed" } });
    expect(failed.sinkDownMs).toBeGreaterThanOrEqual(59_000);

    world.time.startTimer(5000, () => stop.abort());
    const startMs = world.time.nowMs();
    const stopped = await world.time.runUntil(runWorkers({ ...base, process, signal: stop.signal, graceMs: 1000 }));
    expect(["Aborted", "SinkFailed"]).toContain(stopped.stopped.kind);
    expect(world.time.nowMs() - startMs).toBeLessThan(10_000);
  });
});
