// A retry that forgets an item leaves it failed for ever; one that removes an item from the ledger before its success is
// stored loses it.

import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { runWorkers } from "../../runtime/run-workers.ts";
import { startRun } from "../../runtime/start-run.ts";
import { keyOf, numberedSource, RUN, TokenSink, World, type NumberedItem } from "../../runtime/world.fixture.ts";
import { describeSource } from "../../testing/index.ts";
import { failedItems } from "./failed-items.ts";
import { resolveRetried } from "./resolve-retried.ts";

const COUNT = 100;
const RETRY = { ...RUN, run: RunId.fromRaw(10n) };

/** A run with these items on record as failed. */
async function runWithFailures(isBad: (n: number) => boolean) {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source, 3);
  const process = ({ n }: NumberedItem): void => {
    if (isBad(n)) throw new Error(`no ${n}`);
  };
  const base = { coordinator: world.coordinator, time: world.time, onItemFailure: "skip" } as const;
  await world.time.runUntil(runWorkers({ ...base, run: RUN, source, process, retry: { maxAttempts: 1 } }));
  world.clock.advance(1000n);
  const retrySource = failedItems({ coordinator: world.coordinator, run: RUN, source });
  return { world, source, retrySource, base };
}

async function numbersOnRecord({ coordinator }: World, run = RUN): Promise<number[]> {
  const page = unwrap(await coordinator.listFailures({ ...run, limit: 1000 }));
  return page.items.map(({ key }) => key.at(-1)!);
}

describe("a retry", () => {
  test("processes exactly the failed items, and removes those that succeed", async () => {
    const { world, retrySource, base } = await runWithFailures((n) => n % 3 === 0);
    const config = { leaseDuration: 3000n };
    const options = { coordinator: world.coordinator, run: RETRY, source: retrySource, shardCount: 4, config };
    unwrap(await startRun(options));
    const seen: number[] = [];
    const process = ({ n }: NumberedItem): void => {
      seen.push(n);
      if (n % 9 === 0) throw new Error("again");
    };
    const summary = await world.time.runUntil(
      runWorkers({ ...base, run: RETRY, source: retrySource, process, concurrency: 2, retry: { maxAttempts: 1 } }),
    );
    expect(summary.stopped).toEqual({ kind: "Done" });
    const failed = Array.from({ length: 34 }, (_, index) => 3 * index);
    expect(seen.toSorted((a, b) => a - b)).toEqual(failed);

    const request = { coordinator: world.coordinator, original: RUN, retry: RETRY };
    expect(unwrap(await resolveRetried(request))).toEqual({ resolved: 22, failedAgain: 12 });
    expect(await numbersOnRecord(world)).toEqual(failed.filter((n) => n % 9 === 0));
    expect(unwrap(await resolveRetried(request))).toEqual({ resolved: 0, failedAgain: 12 });
  });

  test("that is interrupted removes what is stored, and resumes with the rest", async () => {
    const { world, retrySource, base } = await runWithFailures((n) => n < 20);
    const config = { leaseDuration: 3000n };
    unwrap(await startRun({ ...base, run: RETRY, source: retrySource, shardCount: 1, config }));
    const stop = new AbortController();
    const sink = new TokenSink();
    const process = async ({ n }: NumberedItem): Promise<void> => {
      if (n === 7) stop.abort();
      await world.time.sleep(1);
    };
    const options = { ...base, run: RETRY, source: retrySource, process, sink };
    await world.time.runUntil(runWorkers({ ...options, signal: stop.signal, split: false }));
    const request = { coordinator: world.coordinator, original: RUN, retry: RETRY };
    expect(unwrap(await resolveRetried(request))).toEqual({ resolved: 8, failedAgain: 0 });
    expect(await numbersOnRecord(world)).toEqual(Array.from({ length: 12 }, (_, index) => 8 + index));

    const summary = await world.time.runUntil(runWorkers(options));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: 12 });
    expect(unwrap(await resolveRetried(request))).toEqual({ resolved: 12, failedAgain: 0 });
    expect(await numbersOnRecord(world)).toEqual([]);
  });

  test("leaves failures alone that were recorded after it began", async () => {
    const { world, retrySource, base } = await runWithFailures((n) => n === 5);
    const config = { leaseDuration: 3000n };
    unwrap(await startRun({ ...base, run: RETRY, source: retrySource, shardCount: 1, config }));
    await world.time.runUntil(runWorkers({ ...base, run: RETRY, source: retrySource, process: () => undefined }));
    // The same item fails again in the first run, which can happen if its shard was unparked.
    const late = { ...RUN, run: RunId.fromRaw(11n) };
    unwrap(await startRun({ ...base, run: late, source: numberedSource(COUNT), shardCount: 1, config }));
    world.clock.advance(1000n);
    const process = ({ n }: NumberedItem): void => {
      if (n === 5) throw new Error("late");
    };
    await world.time.runUntil(
      runWorkers({ ...base, run: late, source: numberedSource(COUNT), process, retry: { maxAttempts: 1 } }),
    );
    const request = { coordinator: world.coordinator, original: late, retry: RETRY };
    expect(unwrap(await resolveRetried(request))).toEqual({ resolved: 0, failedAgain: 0 });
    expect(await numbersOnRecord(world, late)).toEqual([5]);
  });

  test("reports an item that the source no longer has", async () => {
    const { world, base } = await runWithFailures((n) => n === 5 || n === COUNT - 1);
    const shrunk = failedItems({ coordinator: world.coordinator, run: RUN, source: numberedSource(COUNT - 1) });
    unwrap(await startRun({ ...base, run: RETRY, source: shrunk, shardCount: 1, config: { leaseDuration: 3000n } }));
    const summary = await world.time.runUntil(
      runWorkers({ ...base, run: RETRY, source: shrunk, process: () => undefined }),
    );
    expect(summary).toMatchObject({ items: 1, problems: 1 });
    expect(await numbersOnRecord(world, RETRY)).toEqual([COUNT - 1]);
  });

  test("of a run that does not exist cannot be planned", async () => {
    const { coordinator } = new World();
    const source = failedItems({ coordinator, run: RETRY, source: numberedSource(1) });
    expect(await source.plan({ shardCount: 1 })).toMatchObject({ ok: false, error: { kind: "SourceMissing" } });
  });
});

describeSource(
  "failedItems",
  async () => {
    const clock = new ManualClock(1000n);
    const coordinator = new Coordinator({ store: new MemoryStore(), clock });
    const source = numberedSource(60);
    const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
    unwrap(await startRun({ coordinator, run, source, shardCount: 1, config: { leaseDuration: 3_000_000n } }));
    const process = ({ n }: NumberedItem): void => {
      if (n % 2 === 0) throw new Error("no");
    };
    await runWorkers({ coordinator, run, source, process, retry: { maxAttempts: 1 }, onItemFailure: "skip" });
    const keys = Array.from({ length: 30 }, (_, index) => keyOf(2 * index));
    return { source: failedItems({ coordinator, run, source }), keys };
  },
  { describe, expect, test },
);
