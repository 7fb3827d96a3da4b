// A worker that loses an item loses it for good: it is never looked for again. So every property is stated from the
// source's side: whatever goes wrong, each of its items was processed, and each result counts once.

import { OpId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ParkShard } from "./park-shard.ts";
import { runWorkers } from "./run-workers.ts";
import { WorkStopped } from "./work-stopped.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { keyOf, LEASE_MS, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const COUNT = 100;
const ALL = Array.from({ length: COUNT }, (_, n) => n);

async function makeWorld(shardCount = 1, source = numberedSource(COUNT)) {
  const world = new World();
  await world.start(source, shardCount);
  const events: WorkerEvent[] = [];
  const base = {
    coordinator: world.coordinator,
    run: RUN,
    source,
    time: world.time,
    onEvent: (event: WorkerEvent) => void events.push(event),
  };
  return { world, source, events, base };
}

describe("runWorkers", () => {
  test.each([1, 3])(
    "processes every item once where nothing goes wrong, in order within a shard (%i shards)",
    async (shardCount) => {
      const { world, base } = await makeWorld(shardCount);
      const seen: number[] = [];

      const summary = await world.time.runUntil(runWorkers({ ...base, process: ({ n }) => void seen.push(n) }));

      expect(summary).toMatchObject({
        stopped: { kind: "Done" },
        items: COUNT,
        failures: 0,
        shards: { claimed: shardCount, completed: shardCount, lost: 0 },
        held: 0,
      });
      expect(seen.toSorted((a, b) => a - b)).toEqual(ALL);
      expect(unwrap(await world.coordinator.getRunProgress(RUN))).toMatchObject({ active: 0, done: shardCount });
    },
  );

  test("leaves the source open, for its owner and for the next run", async () => {
    let closed = 0;
    const source = { ...numberedSource(COUNT), close: async () => void closed++ };
    const { world, base } = await makeWorld(2, source);

    await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));

    expect(closed).toBe(0);
  });

  test("works on up to `itemConcurrency` items of a shard at once", async () => {
    const { world, base } = await makeWorld();
    let now = 0;
    let most = 0;
    const process = async () => {
      most = Math.max(most, ++now);
      await world.time.sleep(10);
      now--;
    };

    await world.time.runUntil(runWorkers({ ...base, itemConcurrency: 4, process, split: false }));

    expect(most).toBe(4);
  });

  test.each(["at once", "later"])(
    "what is finished %s behind a slow item waits for it, and no more of it than there is room for",
    async (when) => {
      const { world, base } = await makeWorld();
      let begun = 0;
      let begunMeanwhile = 0;
      const process = ({ n }: { n: number }) => {
        begun++;
        if (n > 0) return when === "at once" ? undefined : world.time.sleep(1);
        return world.time.sleep(500).then(() => void (begunMeanwhile = begun));
      };

      const summary = await world.time.runUntil(runWorkers({ ...base, process, itemConcurrency: 2, split: false }));

      expect(summary.items).toBe(COUNT);
      expect(begunMeanwhile).toBe(64);
    },
  );

  test("an item that fails is tried again after a pause, and told which attempt it is", async () => {
    const { world, base, events } = await makeWorld();
    const attempts: number[] = [];
    const process = ({ n }: { n: number }, { attempt }: { attempt: number }) => {
      if (n !== 50) return;
      attempts.push(attempt);
      if (attempt < 3) throw new Error("not yet");
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, retry: { baseMs: 100 } }));

    expect(attempts).toEqual([1, 2, 3]);
    expect(summary).toMatchObject({ items: COUNT, retries: 2, failures: 0, stopped: { kind: "Done" } });
    expect(events.filter(({ kind }) => kind === "ItemFailed")).toMatchObject([
      { attempt: 1, willRetry: true },
      { attempt: 2, willRetry: true },
    ]);
  });

  test.each([
    { thrown: new Error("always"), reason: "Poisoned", attempts: 3 },
    { thrown: Object.assign(new Error("no"), { code: "EACCES" }), reason: "PermissionDenied", attempts: 3 },
    { thrown: new ParkShard("NotFound"), reason: "NotFound", attempts: 1 },
  ])(
    "an item that keeps failing parks its shard as $reason, with everything before it stored",
    async ({ thrown, reason, attempts }) => {
      const { world, base } = await makeWorld();
      let tried = 0;
      const process = async ({ n }: { n: number }) => {
        await Promise.resolve();
        if (n === 50) {
          tried++;
          throw thrown;
        }
      };

      const summary = await world.time.runUntil(
        runWorkers({ ...base, itemConcurrency: 5, process, retry: { maxAttempts: 3 } }),
      );

      expect(tried).toBe(attempts);
      expect(summary).toMatchObject({ stopped: { kind: "Done" }, failures: 1, shards: { parked: 1, completed: 0 } });
      const page = unwrap(await world.coordinator.listShards(RUN));
      expect(page.items).toMatchObject([{ status: "Parked", parkReason: reason }]);
      expect(page.items[0]!.lastKey).toEqual(keyOf(49));
    },
  );

  test("skips an item that keeps failing if configured", async () => {
    const { world, base } = await makeWorld();
    const sink = new TokenSink();
    const process = ({ n }: { n: number }) => {
      if (n % 10 === 3) throw new Error("always");
    };

    const summary = await world.time.runUntil(
      runWorkers({ ...base, sink, process, onItemFailure: "skip", retry: { maxAttempts: 2, baseMs: 1 } }),
    );

    expect(summary).toMatchObject({ failures: 10, retries: 10, items: 90, shards: { completed: 1 } });
    // The sink counts skipped items too: its token knows each of them once.
    expect(await sink.results(world.coordinator)).toEqual(ALL);
  });

  test("a problem of the source is stored with the checkpoint that moves past it, also behind the last item", async () => {
    const isProblem = (n: number): boolean => n >= 90 || n % 3 === 0;
    const { world, base } = await makeWorld(1, numberedSource(COUNT, { isProblem }));
    const sink = new TokenSink();
    const controller = new AbortController();
    const process = ({ n }: { n: number }) => {
      if (n === 50) controller.abort();
    };
    const options = { ...base, sink, process };

    const first = await world.time.runUntil(runWorkers({ ...options, signal: controller.signal }));
    const second = await world.time.runUntil(runWorkers(options));
    const third = await world.time.runUntil(runWorkers(options));

    expect([first.problems + second.problems, second.stopped.kind, third.problems]).toEqual([40, "Done", 0]);
    expect(await sink.results(world.coordinator)).toEqual(ALL);
    const [shard] = unwrap(await world.coordinator.listShards(RUN)).items;
    expect(shard!.lastKey).toEqual(keyOf(COUNT - 1));
  });

  test("a checkpoint renews the lease in the same write, once a third of the lease has elapsed", async () => {
    const { world, base, events } = await makeWorld();
    let writes = 0;
    const store = new FaultInjectingStore(world.store, {
      onCommit: ({ kind }) => {
        // The registry of workers is written apart from the shards.
        if (kind !== "WriteNotes") writes++;
        return undefined;
      },
    });
    const coordinator = new Coordinator({ store, clock: world.clock });
    const checkpoints: bigint[] = [];
    const renewals: bigint[] = [];
    coordinator.onEvent(({ kind, at }) => {
      if (kind === "ShardCheckpointed") checkpoints.push(at);
      if (kind === "ShardLeaseRenewed") renewals.push(at);
    });

    await world.time.runUntil(
      runWorkers({
        ...base,
        coordinator,
        process: () => world.time.sleep(100),
        checkpointEvery: { items: 3, ms: 400 },
        split: false,
      }),
    );

    const stored = events.filter(({ kind }) => kind === "ShardCheckpointed").length;
    expect(checkpoints).toHaveLength(stored);
    const apart = renewals.filter((at) => !checkpoints.includes(at));
    expect(writes).toBe(1 + stored + apart.length + 1);
    // The world's clock starts at 1,000,000, and the claim comes with it.
    for (const [index, at] of renewals.entries()) {
      const sinceMs = Number(at - (renewals[index - 1] ?? 1_000_000n));
      expect(sinceMs).toBeGreaterThanOrEqual(LEASE_MS / 3);
      expect(sinceMs).toBeLessThanOrEqual(LEASE_MS / 2);
    }
    // Ten seconds of work in leases of three.
    expect(renewals.length).toBeGreaterThanOrEqual(6);
    expect(stored).toBeGreaterThan(2 * renewals.length);
  });

  test("a slow item keeps its lease", async () => {
    const { world, base } = await makeWorld();
    const process = async ({ n }: { n: number }) => {
      if (n === 50) await world.time.sleep(10 * LEASE_MS);
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, split: false }));

    expect(summary).toMatchObject({ items: COUNT, shards: { completed: 1, lost: 0 } });
  });

  test("a shard that is lost aborts its items, drops what was not stored, and is claimed again", async () => {
    const { world, base, events } = await makeWorld();
    const sink = new TokenSink();
    const reasons: unknown[] = [];
    let isFirst = true;
    const process = async ({ n }: { n: number }, { signal }: { signal: AbortSignal }) => {
      if (n !== 50 || !isFirst) return;
      isFirst = false;
      // The loop stands still past the deadline: no renewal was possible.
      world.time.block(2 * LEASE_MS);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      reasons.push(signal.reason);
      await world.time.sleep(100);
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, sink, process, checkpointEvery: { items: 20 } }));

    // The item that ignored its signal ends long after the shard was released.
    await world.time.runUntil(world.time.sleep(200));
    expect(reasons).toEqual([new WorkStopped("Lost", "LeaseExpired")]);
    expect(sink.lateWrites).toBe(0);
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, shards: { claimed: 2, lost: 1, completed: 1 } });
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["LoopBlocked", "LeaseLost"]));
    expect(await sink.results(world.coordinator)).toEqual(ALL);
  });

  test("releases its shards when it is stopped, with what was finished", async () => {
    const { world, base, events } = await makeWorld();
    const controller = new AbortController();
    const process = async ({ n }: { n: number }) => {
      await world.time.sleep(10);
      if (n === 30) controller.abort();
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, signal: controller.signal }));

    expect(summary).toMatchObject({ stopped: { kind: "Aborted" }, shards: { released: 1, lost: 0 } });
    const [shard] = unwrap(await world.coordinator.listShards(RUN)).items;
    expect(shard).toMatchObject({ status: "Active" });
    expect(shard!.lastKey).toEqual(keyOf(summary.items - 1));
    expect(events.at(-1)).toMatchObject({ kind: "ShardReleased" });
    const again = await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));
    expect(again.items).toBe(COUNT - summary.items);
  });

  test("releases at once what it claimed while it was being stopped", async () => {
    const { world, base } = await makeWorld(2);
    const controller = new AbortController();
    const store = new FaultInjectingStore(world.store, {
      delay: () => world.time.sleep(100),
      onCommit: ({ kind }) => {
        // The claim is in progress.
        if (kind === "UpdateShard") controller.abort();
        return undefined;
      },
    });

    const coordinator = new Coordinator({ store, clock: world.clock });
    const summary = await world.time.runUntil(
      runWorkers({
        ...base,
        coordinator,
        process: () => world.time.sleep(10),
        concurrency: 2,
        signal: controller.signal,
      }),
    );

    expect(summary).toMatchObject({ items: 0, stopped: { kind: "Aborted" }, shards: { claimed: 2, released: 2 } });
    expect(unwrap(await world.coordinator.getRunProgress(RUN))).toMatchObject({ active: 2, leased: 0 });
  });

  test("retries nothing after it was stopped, and does not wait for retries", async () => {
    const { world, base } = await makeWorld();
    const controller = new AbortController();
    const attempts: [number, number][] = [];
    const process = async ({ n }: { n: number }, { attempt }: { attempt: number }) => {
      if (n < 20) return;
      attempts.push([n, attempt]);
      if (n === 21) {
        await world.time.sleep(50);
        controller.abort();
        await world.time.sleep(50);
      }
      throw new Error("always");
    };

    const startMs = world.time.nowMs();
    const summary = await world.time.runUntil(
      runWorkers({
        ...base,
        process,
        signal: controller.signal,
        itemConcurrency: 2,
        retry: { baseMs: 20_000, maxMs: 20_000 },
        graceMs: 4000,
      }),
    );

    expect(attempts).toEqual([
      [20, 1],
      [21, 1],
    ]);
    expect(summary).toMatchObject({ items: 20, stopped: { kind: "Aborted" }, shards: { released: 1 } });
    expect(world.time.nowMs() - startMs).toBeLessThan(1000);
  });

  test("does not wait for an item that goes on longer than the grace", async () => {
    const { world, base } = await makeWorld();
    const controller = new AbortController();
    let wasAborted = false;
    const process = ({ n }: { n: number }, { signal }: { signal: AbortSignal }) => {
      if (n !== 30) return undefined;
      controller.abort();
      signal.addEventListener("abort", () => (wasAborted = true));
      return new Promise<void>(() => undefined);
    };

    const startMs = world.time.nowMs();
    const summary = await world.time.runUntil(
      runWorkers({ ...base, process, signal: controller.signal, graceMs: 700 }),
    );

    expect(summary).toMatchObject({ items: 30, shards: { released: 1 } });
    expect(wasAborted).toBe(true);
    expect(world.time.nowMs() - startMs).toBeGreaterThanOrEqual(700);
  });

  test("an item that answers once its signal has fired is not finished, whatever it says", async () => {
    const { world, base } = await makeWorld();
    const sink = new TokenSink(() => world.time.sleep(250));
    const controller = new AbortController();
    // It gives up on its signal and returns as if it had done its work, in the middle of the last flush.
    const process = ({ n }: { n: number }, { signal }: { signal: AbortSignal }) => {
      if (n !== 30) return undefined;
      controller.abort();
      return new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => world.time.startTimer(100, resolve)),
      );
    };

    const summary = await world.time.runUntil(
      runWorkers({ ...base, sink, process, signal: controller.signal, graceMs: 50 }),
    );

    expect(summary).toMatchObject({ items: 30, shards: { released: 1 } });
    await world.time.runUntil(runWorkers({ ...base, sink, process: () => undefined }));
    expect(await sink.results(world.coordinator)).toEqual(ALL);
  });

  test("stops at once when an operator ends the run, even if it only checkpoints", async () => {
    const { world, base } = await makeWorld();
    const process = async ({ n }: { n: number }) => {
      if (n === 30) unwrap(await world.coordinator.cancelRun({ ...RUN, opId: OpId.random() }));
      await world.time.sleep(50);
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, process, checkpointEvery: { ms: 100 } }));

    expect(summary).toMatchObject({ stopped: { kind: "RunTerminal", status: "Cancelled" }, shards: { lost: 0 } });
    expect(summary.items).toBeLessThan(45);
  });

  test("says so where there is no such run", async () => {
    const world = new World();
    const source = numberedSource(1);
    const summary = await world.time.runUntil(
      runWorkers({ coordinator: world.coordinator, run: RUN, source, process: () => undefined, time: world.time }),
    );
    expect(summary).toMatchObject({ items: 0, stopped: { kind: "RunMissing", error: { kind: "RunNotFound" } } });
  });

  test.each(["at once", "later"])(
    "nothing is written to a sink while it is flushed, though items are finished %s meanwhile",
    async (when) => {
      const time = { sleep: (_ms: number): Promise<void> => Promise.resolve() };
      // Batches come while the sink is being flushed, so that items are finished in the middle of it.
      const { world, base } = await makeWorld(1, numberedSource(COUNT, { between: () => time.sleep(170) }));
      time.sleep = (ms) => world.time.sleep(ms);
      const sink = new TokenSink(() => world.time.sleep(250));
      const process = () => (when === "at once" ? undefined : world.time.sleep(5));

      const summary = await world.time.runUntil(runWorkers({ ...base, sink, process, checkpointEvery: { ms: 200 } }));

      expect(summary).toMatchObject({ items: COUNT, stopped: { kind: "Done" } });
      expect(await sink.results(world.coordinator)).toEqual(ALL);
    },
  );

  test("a shard that is given back in the middle of a flush waits for it", async () => {
    const { world, base } = await makeWorld();
    const sink = new TokenSink(() => world.time.sleep(250));
    const controller = new AbortController();
    const process = ({ n }: { n: number }) => {
      // The flush begins with the next tick after the checkpoint is due, and is still under way then.
      if (n === 0) world.time.startTimer(400, () => controller.abort());
      return world.time.sleep(50);
    };

    const summary = await world.time.runUntil(
      runWorkers({ ...base, sink, process, signal: controller.signal, checkpointEvery: { ms: 200 } }),
    );

    expect(summary).toMatchObject({ stopped: { kind: "Aborted" }, shards: { released: 1, lost: 0 } });
    expect(await sink.results(world.coordinator)).toEqual(ALL.slice(0, summary.items));
  });

  test("a sink that fails ends the work; nothing that it did not take counts", async () => {
    const { world, base } = await makeWorld();
    const sink = new TokenSink();
    const process = ({ n }: { n: number }) => {
      if (n === 50) sink.isBroken = true;
    };

    const summary = await world.time.runUntil(runWorkers({ ...base, sink, process, checkpointEvery: { items: 20 } }));
    expect(summary).toMatchObject({ stopped: { kind: "SinkFailed" }, shards: { released: 1, completed: 0 } });

    sink.isBroken = false;
    await world.time.runUntil(runWorkers({ ...base, sink, process: () => undefined }));
    expect(await sink.results(world.coordinator)).toEqual(ALL);
  });

  test("reads on where the source failed, and parks where it keeps failing", async () => {
    let failures = 3;
    const source = numberedSource(COUNT, {
      between: async (from) => {
        if (from > 40 && failures-- > 0) throw new Error("gone");
      },
    });
    const { world, base, events } = await makeWorld(1, source);
    expect(await world.time.runUntil(runWorkers({ ...base, process: () => undefined }))).toMatchObject({
      items: COUNT,
      shards: { completed: 1 },
    });
    expect(events.filter(({ kind }) => kind === "SourceFailed")).toHaveLength(3);

    const broken = numberedSource(COUNT, {
      between: (from) =>
        from > 40 ? Promise.reject(Object.assign(new Error("gone"), { code: "ENOENT" })) : Promise.resolve(),
    });
    const other = await makeWorld(1, broken);
    const summary = await other.world.time.runUntil(runWorkers({ ...other.base, process: () => undefined }));
    expect(summary).toMatchObject({ items: 42, shards: { parked: 1 } });
    expect(unwrap(await other.world.coordinator.listShards(RUN)).items).toMatchObject([{ parkReason: "NotFound" }]);
  });

  test("a source whose keys do not increase is parked, not believed", async () => {
    const source = numberedSource(COUNT);
    const shuffled = {
      ...source,
      read: async function* () {
        yield {
          items: [
            { n: 1, key: keyOf(1) },
            { n: 0, key: keyOf(0) },
          ],
        };
      },
    };
    const { world, base } = await makeWorld(1, shuffled);
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));
    expect(summary).toMatchObject({ items: 0, shards: { parked: 1 } });
  });

  test("what the source cannot read is reported in order, and skipped or parked as configured", async () => {
    const source = numberedSource(10);
    const problems = [{ key: keyOf(4), reason: "unreadable" }];
    const withProblem = {
      ...source,
      read: async function* ({ after }: { after?: Uint8Array | undefined }) {
        yield {
          items: [0, 1, 2, 3, 5, 6]
            .filter((n) => after === undefined || n > after[5]!)
            .map((n) => ({ n, key: keyOf(n) })),
          problems: after === undefined ? problems : [],
        };
      },
    };
    const { world, base, events } = await makeWorld(1, withProblem);
    expect(
      await world.time.runUntil(runWorkers({ ...base, process: () => undefined, onProblem: "park" })),
    ).toMatchObject({ items: 4, problems: 1, shards: { parked: 1 } });
    const shard = unwrap(await world.coordinator.listShards(RUN)).items[0]!;
    unwrap(
      await world.coordinator.unpark({
        tenant: RUN.tenant,
        key: { run: RUN.run, shard: shard.shard },
        opId: OpId.random(),
      }),
    );
    expect(await world.time.runUntil(runWorkers({ ...base, process: () => undefined }))).toMatchObject({
      items: 2,
      shards: { completed: 1 },
    });
    expect(events.filter(({ kind }) => kind === "ItemProblem")).toMatchObject([{ reason: "unreadable", keySize: 6 }]);
  });

  test("an empty range is completed", async () => {
    const { world, base } = await makeWorld(1, numberedSource(0));
    expect(await world.time.runUntil(runWorkers({ ...base, process: () => undefined }))).toMatchObject({
      items: 0,
      shards: { completed: 1 },
    });
  });
});
