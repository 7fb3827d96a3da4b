// The limits of a run meet the whole runtime here: shards that are claimed, split and released, items that fail and are
// tried again, and processes that end when nothing is left.

import { FaultInjectingStore } from "@gossip/coordination/testing";
import { Coordinator } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { RetryAfter } from "../runtime/retry-after.ts";
import { runWorkers } from "../runtime/run-workers.ts";
import { numberedSource, RUN, TokenSink, World, type NumberedItem } from "../runtime/world.fixture.ts";

const COUNT = 120;
const all = Array.from({ length: COUNT }, (_, n) => n);

async function setUp(change: { readonly itemsPerSecond?: number; readonly concurrency?: number }) {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source, 6);
  unwrap(await world.coordinator.changeRunSettings({ ...RUN, change }));
  const sink = new TokenSink();
  const calls: number[] = [];
  const seen = { inFlight: 0, maxInFlight: 0 };
  const during = async (ms: number): Promise<void> => {
    calls.push(world.time.nowMs());
    seen.maxInFlight = Math.max(seen.maxInFlight, ++seen.inFlight);
    await world.time.sleep(ms);
    seen.inFlight--;
  };
  const options = { run: RUN, source, time: world.time, sink, concurrency: 2, itemConcurrency: 4 };
  const results = async () => (await sink.results(world.coordinator)).toSorted((a, b) => a - b);
  return { world, options, calls, seen, during, results };
}

/** The calls that any span of time had beyond the rate. */
function excess(calls: readonly number[], itemsPerSecond: number): number {
  let [least, most] = [Infinity, 0];
  for (const [index, ms] of calls.toSorted((a, b) => a - b).entries()) {
    const ahead = index - (itemsPerSecond * ms) / 1000;
    least = Math.min(least, ahead);
    most = Math.max(most, ahead + 1 - least);
  }
  return most;
}

describe("a run with limits", () => {
  test("starts and retries items at its rate, in two processes, and finishes every item once", async () => {
    const { world, options, calls, during, results } = await setUp({ itemsPerSecond: 20 });
    const process = async ({ n }: NumberedItem, { attempt }: { readonly attempt: number }) => {
      await during(20);
      if (n % 3 === 0 && attempt === 1) throw new Error("the first attempt fails");
    };
    const work = [world.connect(), world.connect()].map((coordinator) =>
      runWorkers({ ...options, coordinator, process, retry: { baseMs: 10 } }),
    );

    const summaries = await world.time.runUntil(Promise.all(work));

    expect(summaries.map(({ stopped }) => stopped.kind)).toEqual(["Done", "Done"]);
    expect(calls.length).toBe(COUNT + COUNT / 3);
    expect(excess(calls, 20)).toBeLessThanOrEqual(21);
    // 160 calls take 8 seconds. Starting, and the retries of the last items, take up to one more.
    expect(Math.max(...calls)).toBeLessThanOrEqual(9000);
    expect(await results()).toEqual(all);
  });

  test("has no more items in progress than allowed, in two processes", async () => {
    const { world, options, seen, during, results } = await setUp({ concurrency: 3 });
    const process = () => during(100);
    const work = [world.connect(), world.connect()].map((coordinator) =>
      runWorkers({ ...options, coordinator, process }),
    );

    await world.time.runUntil(Promise.all(work));

    expect(seen.maxInFlight).toBe(3);
    expect(await results()).toEqual(all);
  });

  test("returns what it has not used when a process ends", async () => {
    const { world, options, during } = await setUp({ itemsPerSecond: 1000, concurrency: 30 });
    const process = () => during(1);
    await world.time.runUntil(runWorkers({ ...options, coordinator: world.coordinator, process }));
    const query = { ...RUN, space: "setting", start: new Uint8Array(), end: undefined, limit: 9 } as const;
    const texts = unwrap(await world.store.listNotes(query)).items.map(({ value }) => new TextDecoder().decode(value));
    expect(texts.filter((text) => text.includes("entries"))).toEqual([expect.stringContaining('"entries":[]')]);
  });

  test("waits as a whole if its source asks one of its shards to", async () => {
    const { world, options, calls, during, results } = await setUp({});
    let isFirst = true;
    const read: typeof options.source.read = (request) => {
      if (!isFirst || calls.length < 10) return options.source.read(request);
      isFirst = false;
      throw new RetryAfter(8000, "too many requests", { scope: "run" });
    };
    const source = { ...options.source, read };
    const work = [world.connect(), world.connect()].map((coordinator) =>
      runWorkers({ ...options, source, coordinator, process: () => during(50) }),
    );

    await world.time.runUntil(Promise.all(work));

    const gaps = calls.toSorted((a, b) => a - b).map((ms, index, sorted) => ms - (sorted[index - 1] ?? ms));
    expect(Math.max(...gaps)).toBeGreaterThanOrEqual(6900);
    expect(await results()).toEqual(all);
  });

  test("waits as a whole if a service asks one of its items to", async () => {
    const { world, options, calls, during, results } = await setUp({});
    let isFirst = true;
    const process = async () => {
      const isAsked = isFirst && calls.length > 10;
      await during(50);
      if (!isAsked || !isFirst) return;
      isFirst = false;
      throw new RetryAfter(8000, "too many requests", { scope: "run" });
    };
    const work = [world.connect(), world.connect()].map((coordinator) =>
      runWorkers({ ...options, coordinator, process }),
    );

    await world.time.runUntil(Promise.all(work));

    // The process that was asked stops at once, the other one within a second.
    const gaps = calls.toSorted((a, b) => a - b).map((ms, index, sorted) => ms - (sorted[index - 1] ?? ms));
    expect(Math.max(...gaps)).toBeGreaterThanOrEqual(6900);
    expect(await results()).toEqual(all);
  });
});

test("a run without limits asks for no budget", async () => {
  const { world, options } = await setUp({});
  let notes = 0;
  const store = new FaultInjectingStore(world.store, {
    onCommit: (set) => {
      if (set.kind === "WriteNotes" && set.notes.some(({ space }) => space === "setting")) notes++;
      return undefined;
    },
  });
  const coordinator = new Coordinator({ store, clock: world.clock });
  const summary = await world.time.runUntil(runWorkers({ ...options, coordinator, process: () => {} }));
  expect([summary.items, notes]).toEqual([COUNT, 0]);
});
