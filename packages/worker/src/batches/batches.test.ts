// A batch that fails because of one item must not cost the others, and a result must reach its own item.
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ParkShard } from "../runtime/park-shard.ts";
import { runWorkers } from "../runtime/run-workers.ts";
import { keyOf, numberedSource, RUN, World, type NumberedItem } from "../runtime/world.fixture.ts";
import type { Sink } from "../sinks/sink.ts";
import type { BatchOutcomes, ProcessBatch, RunBatchesOptions } from "./process-batch.ts";

const COUNT = 250;
const BATCH_SIZE = 40;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const doubled = (items: readonly NumberedItem[]): BatchOutcomes<number> => items.map(({ n }) => ({ result: 2 * n }));

async function run(
  processBatch: ProcessBatch<NumberedItem, number>,
  options: Partial<RunBatchesOptions<NumberedItem, number>> = {},
) {
  const world = new World();
  const source = numberedSource(COUNT, { batchSize: 60 });
  await world.start(source, 3);
  const calls: (readonly number[])[] = [];
  const results = new Map<number, number>();
  const sink: Sink<NumberedItem, number> = {
    open: async () => ({
      write: ({ n }, result) => void results.set(n, result),
      flush: async () => new Uint8Array(1),
      close: async () => {},
    }),
  };
  const base = { coordinator: world.coordinator, run: RUN, source, time: world.time, sink, split: false } as const;
  const summary = await world.time.runUntil(
    runWorkers<NumberedItem, number>({
      ...base,
      batchSize: BATCH_SIZE,
      onItemFailure: "skip",
      retry: { maxAttempts: 2 },
      ...options,
      processBatch: (items, context) => {
        calls.push(items.map(({ n }) => n));
        return processBatch(items, context);
      },
    }),
  );
  const { items: failures } = unwrap(await world.coordinator.listFailures(RUN));
  return { summary, calls, results, failures };
}

describe("work in batches", () => {
  test("gets the items of one shard in order, as many as asked for, and each its result", async () => {
    const { summary, calls, results } = await run(async (items) => doubled(items));
    expect(summary).toMatchObject({ items: COUNT, failures: 0, stopped: { kind: "Done" } });
    expect(calls.flat().toSorted((a, b) => a - b)).toEqual(upTo(COUNT));
    for (const call of calls) expect(call).toEqual(call.map((_, index) => call[0]! + index));
    expect(Math.max(...calls.map(({ length }) => length))).toBe(BATCH_SIZE);
    // Three shards of about 83 items: two full batches and a rest each.
    expect(calls.length).toBeLessThanOrEqual(12);
    expect(upTo(COUNT).map((n) => results.get(n))).toEqual(upTo(COUNT).map((n) => 2 * n));
  });

  test("may return nothing, and need not be asynchronous", async () => {
    const { summary, results } = await run(() => undefined);
    expect([summary.items, new Set(results.values())]).toEqual([COUNT, new Set([undefined])]);
  });

  test("fails the items whose outcome is an error, and retries each of them alone", async () => {
    const { summary, calls, results, failures } = await run((items) =>
      items.map(({ n }) => (n % 50 === 7 ? { error: new Error(`no ${n}`) } : { result: n })),
    );
    expect(summary).toMatchObject({ failures: 5, retries: 5, items: COUNT - 5 });
    expect(failures.map(({ error, attempts }) => [error, attempts])).toEqual(
      [7, 57, 107, 157, 207].map((n) => [`no ${n}`, 2]),
    );
    const alone = calls.filter(([n, ...others]) => others.length === 0 && n! % 50 === 7);
    expect(alone.toSorted(([a], [b]) => a! - b!)).toEqual([[7], [57], [107], [157], [207]]);
    expect(results.size).toBe(COUNT - 5);
  });

  test("that throws is cut until the item that fails alone is found; no other item fails", async () => {
    const { summary, calls, results, failures } = await run(async (items) => {
      if (items.some(({ n }) => n === 100 || n === 103)) throw new Error("a value is too long");
      return doubled(items);
    });
    expect(summary).toMatchObject({ failures: 2, items: COUNT - 2 });
    expect(failures.map(({ key }) => key)).toEqual([keyOf(100), keyOf(103)]);
    expect(results.size).toBe(COUNT - 2);
    // Each was tried alone, as often as an item is tried.
    expect(calls.filter(({ length }) => length === 1).filter(([n]) => n === 100)).toHaveLength(2);
    expect(calls.length).toBeLessThan(40);
  });

  test("waits for a dependency with the whole batch, and cuts nothing", async () => {
    let refusals = 3;
    const { summary, calls } = await run(async (items) => {
      if (refusals-- > 0) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
      return doubled(items);
    });
    expect(summary).toMatchObject({ failures: 0, items: COUNT });
    expect(calls.filter(({ length }) => length === BATCH_SIZE / 2)).toEqual([]);
  });

  test("that hangs is given up at its time limit, and cut like one that throws", async () => {
    const { summary, failures } = await run(
      (items) => (items.some(({ n }) => n === 99) ? new Promise(() => {}) : doubled(items)),
      { itemTimeoutMs: 500 },
    );
    expect(summary).toMatchObject({ failures: 1, items: COUNT - 1 });
    expect(failures).toMatchObject([{ key: keyOf(99), reason: "TimedOut", attempts: 2 }]);
  });

  test("that parks its shard is not cut", async () => {
    const { calls, summary } = await run(async (items) => {
      if (items.some(({ n }) => n === 20)) throw new ParkShard("Poisoned", "not today");
      return doubled(items);
    });
    expect([summary.shards.parked, calls.filter((call) => call.includes(20)).length]).toEqual([1, 1]);
  });

  test("with another number of outcomes than items fails them, and says so", async () => {
    const { failures } = await run((items) => (items.length === 1 ? doubled(items) : [{ result: 1 }]), {
      retry: { maxAttempts: 1 },
    });
    expect(failures[0]!.error).toMatch(/processBatch returned 1 outcomes for \d+ items/);
  });

  test("keeps several batches of a shard running, if asked", async () => {
    let [running, most] = [0, 0];
    await run(
      async (items) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return doubled(items);
      },
      { batchSize: 10, batchConcurrency: 3 },
    );
    expect(most).toBe(3);
  });

  test.each([
    { batchSize: 0 },
    { batchConcurrency: 0 },
    { batchSize: 10_000, batchConcurrency: 2 },
    { itemTimeoutMs: 0 },
    { process: () => 1 },
    { processBatch: "x" },
  ])("options %o are refused with a sentence", async (wrong) => {
    const { coordinator } = new World();
    const options: object = { coordinator, run: RUN, source: numberedSource(1), processBatch: doubled, ...wrong };
    await expect(runWorkers(options as RunBatchesOptions)).rejects.toThrow(/must be|takes/);
  });
});
