// An item that never ends blocks its shard forever, and the process looks like one that works.

import { describe, expect, test } from "vitest";
import { ItemTimedOut } from "./item-timed-out.ts";
import { runWorkers } from "./run-workers.ts";
import type { SkippedItem } from "../sinks/sink.ts";
import { numberedSource, RUN, World, type NumberedItem } from "./world.fixture.ts";

const COUNT = 20;
const TIMEOUT_MS = 500;

async function setUp(count = COUNT) {
  const world = new World();
  const source = numberedSource(count);
  await world.start(source);
  const skipped: SkippedItem[] = [];
  const sink = {
    open: async () => ({
      write: () => undefined,
      skip: (item: SkippedItem) => void skipped.push(item),
      flush: async () => new Uint8Array(1),
      close: async () => undefined,
    }),
  };
  const base = {
    coordinator: world.coordinator,
    run: RUN,
    source,
    time: world.time,
    sink,
    itemTimeoutMs: TIMEOUT_MS,
    retry: { maxAttempts: 2 },
    onItemFailure: "skip",
  } as const;
  return { world, base, skipped };
}

describe("an item that takes too long", () => {
  test("fails although it ignores its signal, and what it returns later does not count", async () => {
    const { world, base, skipped } = await setUp();
    let calls = 0;
    const process = async ({ n }: NumberedItem): Promise<void> => {
      if (n !== 7) return;
      calls++;
      await world.time.sleep(10 * TIMEOUT_MS);
    };
    const summary = await world.time.runUntil(runWorkers({ ...base, process }));
    expect(summary).toMatchObject({ items: COUNT - 1, failures: 1, stopped: { kind: "Done" } });
    expect([calls, skipped.length]).toEqual([2, 1]);
    expect(skipped[0]).toMatchObject({ kind: "Failure", attempts: 2, item: { n: 7 } });
    expect((skipped[0] as { cause: unknown }).cause).toBeInstanceOf(ItemTimedOut);
  });

  test("is aborted by its signal at the limit, and fails at once if it listens", async () => {
    const { world, base, skipped } = await setUp();
    const toldMs: number[] = [];
    const process = ({ n }: NumberedItem, { signal }: { signal: AbortSignal }): Promise<void> | undefined => {
      if (n !== 7) return undefined;
      const startMs = world.time.nowMs();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          toldMs.push(world.time.nowMs() - startMs);
          reject(new Error("stopped", { cause: signal.reason }));
        });
      });
    };
    await world.time.runUntil(runWorkers({ ...base, process }));
    expect(toldMs).toEqual([TIMEOUT_MS, TIMEOUT_MS]);
    expect((skipped[0] as { cause: unknown }).cause).toMatchObject({ name: "ItemTimedOut", timeoutMs: TIMEOUT_MS });
  });

  test("fails even if it returns a result after its signal has fired", async () => {
    const { world, base } = await setUp();
    const process = async ({ n }: NumberedItem): Promise<void> => {
      if (n === 7) await world.time.sleep(TIMEOUT_MS + 1);
    };
    const summary = await world.time.runUntil(runWorkers({ ...base, process }));
    expect(summary).toMatchObject({ items: COUNT - 1, failures: 1 });
  });

  test("is retried with a limit of its own, and can succeed then", async () => {
    const { world, base } = await setUp();
    const process = async ({ n }: NumberedItem, { attempt }: { attempt: number }): Promise<void> => {
      await world.time.sleep(n === 7 && attempt === 1 ? 10 * TIMEOUT_MS : TIMEOUT_MS - 1);
    };
    const summary = await world.time.runUntil(runWorkers({ ...base, process }));
    expect(summary).toMatchObject({ items: COUNT, failures: 0, retries: 1 });
  });

  test("does not keep the signal of its shard from reaching it", async () => {
    const { world, base } = await setUp(1);
    const stop = new AbortController();
    let reason: unknown;
    const process = (_item: NumberedItem, { signal }: { signal: AbortSignal }): Promise<void> =>
      new Promise((resolve) => {
        stop.abort();
        signal.addEventListener("abort", () => {
          ({ reason } = signal);
          resolve();
        });
      });
    const summary = await world.time.runUntil(
      runWorkers({ ...base, itemTimeoutMs: 86_400_000, process, signal: stop.signal, graceMs: 100 }),
    );
    expect(reason).toMatchObject({ name: "WorkStopped", kind: "Shutdown" });
    expect(summary).toMatchObject({ items: 0, stopped: { kind: "Aborted" } });
  });
});
