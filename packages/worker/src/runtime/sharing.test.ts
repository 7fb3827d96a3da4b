// One hot shard and idle workers: without splits a run takes as long as its longest shard, however many workers there are.
// Time here moves from timer to timer, so how long a run took is exact.
import { WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { Source } from "../sources/source.ts";
import { runWorkers } from "./run-workers.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { LEASE_MS, type NumberedItem, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const COUNT = 2000;
const ITEM_MS = 20;

async function workFor(workers: readonly number[], source: Source<NumberedItem>) {
  const world = new World();
  await world.start(source);
  const sink = new TokenSink();
  const begun: number[] = [];
  const process = async ({ n }: NumberedItem) => {
    begun.push(n);
    await world.time.sleep(ITEM_MS);
  };
  const startMs = world.time.nowMs();
  let firstSplitMs: number | undefined;
  const onEvent = ({ kind }: WorkerEvent): void => {
    if (kind === "ShardSplit") firstSplitMs ??= world.time.nowMs() - startMs;
  };
  const summaries = await world.time.runUntil(
    Promise.all(
      workers.map((concurrency, index) =>
        runWorkers({
          coordinator: world.connect(),
          worker: WorkerId.fromRaw(BigInt(index + 1)),
          newOpId: world.newOpId,
          run: RUN,
          source,
          time: world.time,
          concurrency,
          process,
          sink,
          onEvent,
        }),
      ),
    ),
  );
  const results = await sink.results(world.coordinator);
  const progress = unwrap(await world.coordinator.getRunProgress(RUN));
  return { ms: world.time.nowMs() - startMs, firstSplitMs, begun, results, summaries, progress };
}

const ALONE_MS = COUNT * ITEM_MS;
const ALL = Array.from({ length: COUNT }, (_, n) => n);

const sources: Record<string, () => Source<NumberedItem>> = {
  "by what was read": () => numberedSource(COUNT),
  "by what was read, all of it at once": () => numberedSource(COUNT, { batchSize: COUNT }),
  "by the source's own advice": () => {
    const source = numberedSource(COUNT);
    return {
      ...source,
      splitPoint: async ({ range, after }) => {
        const rest: NumberedItem[] = [];
        for await (const { items } of source.read({ range, after, signal: new AbortController().signal }))
          rest.push(...items);
        return rest[Math.ceil(rest.length / 2)]?.key;
      },
    };
  },
};

describe.each(Object.entries(sources))("a shard split %s", (_name, makeSource) => {
  test("keeps four workers of one process busy", async () => {
    const { ms, firstSplitMs, begun, results, summaries } = await workFor([4], makeSource());
    expect(ALONE_MS / ms).toBeGreaterThan(3.8);
    // As soon as it is worth it, and not at the next poll.
    expect(firstSplitMs).toBeLessThan(50);
    expect(begun.toSorted((a, b) => a - b)).toEqual(ALL);
    expect(results.toSorted((a, b) => a - b)).toEqual(ALL);
    expect(summaries[0]!.splits).toBeGreaterThanOrEqual(3);
  });

  test("keeps four processes busy", async () => {
    const { ms, begun, results, summaries } = await workFor([1, 1, 1, 1], makeSource());

    // What one process gives away another finds only when it looks.
    expect(ALONE_MS / ms).toBeGreaterThan(3);
    expect(begun.toSorted((a, b) => a - b)).toEqual(ALL);
    expect(results.toSorted((a, b) => a - b)).toEqual(ALL);
    for (const { items } of summaries) expect(items).toBeGreaterThan(0);
  });
});

test("a worker that gave a part away stops reading it", async () => {
  let read = 0;
  const source = numberedSource(COUNT);
  const counting: Source<NumberedItem> = {
    ...source,
    async *read(request) {
      for await (const batch of source.read(request)) {
        read += batch.items.length;
        yield batch;
      }
    },
  };
  const { summaries } = await workFor([4], counting);
  expect(summaries[0]!.splits).toBeGreaterThan(3);
  expect(read).toBeLessThan(1.5 * COUNT);
});

test("nothing is split while all workers have work, nor for a single worker", async () => {
  const { summaries, progress } = await workFor([1], numberedSource(COUNT));
  expect(summaries[0]!.splits).toBe(0);
  expect(progress.total).toBe(1);
});

describe("the last items of two processes with one shard each", () => {
  const LATER_MS = 40;

  /** The second process begins a little later, as processes do, and has less to do. */
  async function work({ count, isRecovered = false }: { readonly count: number; readonly isRecovered?: boolean }) {
    const world = new World();
    const { time } = world;
    const source = numberedSource(2 * count, { batchSize: 2 * count });
    const itemMs = (n: number): number => (n < count ? 100 : 90);
    await world.start(source, 2);
    if (isRecovered) {
      unwrap(await world.coordinator.claimMany({ ...RUN, worker: WorkerId.fromRaw(99n), count: 2 }));
      world.clock.advance(BigInt(2 * LEASE_MS));
    }
    const startMs = time.nowMs();
    const sinceStart = (): number => time.nowMs() - startMs;
    let [lastItemMs, firstWaitMs] = [0, Infinity];
    const splitsMs: number[] = [];
    const process = async ({ n }: NumberedItem) => {
      await time.sleep(itemMs(n));
      lastItemMs = sinceStart();
    };
    const onEvent = ({ kind }: WorkerEvent): void => {
      if (kind === "ShardSplit") splitsMs.push(sinceStart());
      if (kind === "Waiting") firstWaitMs = Math.min(firstWaitMs, sinceStart());
    };
    const run = async (id: bigint, afterMs: number) => {
      await time.sleep(afterMs);
      const [coordinator, worker] = [world.connect(), WorkerId.fromRaw(id)];
      return runWorkers({ coordinator, worker, run: RUN, source, time, process, newOpId: world.newOpId, onEvent });
    };
    await time.runUntil(Promise.all([run(1n, 0), run(2n, LATER_MS)]));
    const idealMs = (count * 190 + LATER_MS) / 2;
    return { overMs: lastItemMs - idealMs, splitsMs, firstWaitMs };
  }

  test("are offered before one of them waits, so that both end within an item", async () => {
    const { overMs, splitsMs, firstWaitMs } = await work({ count: 50 });
    expect(overMs).toBeLessThan(100);
    expect(splitsMs).toHaveLength(8);
    expect(Math.max(...splitsMs)).toBeLessThan(firstWaitMs);
  });

  test("are not offered if the last holder stored nothing: one of them may have killed it", async () => {
    const fresh = await work({ count: 8 });
    expect(fresh.splitsMs.some((ms) => ms < fresh.firstWaitMs)).toBe(true);
    const recovered = await work({ count: 8, isRecovered: true });
    expect(recovered.splitsMs.filter((ms) => ms < recovered.firstWaitMs)).toEqual([]);
  });
});

test("a holder that has handed over the rest of its batch does not ask who waits", async () => {
  const world = new World();
  const { time } = world;
  const source = numberedSource(8, { batchSize: 8 });
  await world.start(source);
  const [readHint, questionsMs]: [typeof world.store.readHint, number[]] = [world.store.readHint.bind(world.store), []];
  world.store.readHint = (moment) => {
    questionsMs.push(time.nowMs());
    return readHint(moment);
  };
  let shortItemsMs = 0;
  const process = async ({ n }: NumberedItem) => {
    await time.sleep(n === 0 ? 20_000 : 10);
    if (n !== 0) shortItemsMs = time.nowMs();
  };
  const processes = [1n, 2n].map((id) =>
    runWorkers({ coordinator: world.connect(), worker: WorkerId.fromRaw(id), run: RUN, source, time, process }),
  );
  const summaries = await time.runUntil(Promise.all(processes));
  expect(summaries.map(({ items }) => items)).toEqual([1, 7]);
  expect(shortItemsMs).toBeLessThan(5000);
  expect(questionsMs.filter((ms) => ms > shortItemsMs)).toEqual([]);
});

test("what is nearly done is not split", async () => {
  const world = new World();
  const source = numberedSource(2);
  await world.start(source);
  const process = () => world.time.sleep(10);
  const summary = await world.time.runUntil(
    runWorkers({ coordinator: world.coordinator, run: RUN, source, time: world.time, concurrency: 4, process }),
  );
  expect(summary).toMatchObject({ items: 2, splits: 0 });
});
