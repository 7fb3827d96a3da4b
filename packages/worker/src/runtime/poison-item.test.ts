// An item that kills its process kills the next one too, and every other item of its shard waits forever. Only that item may
// be set aside, and it must be the right one.

import { OpId, WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { CrashGate, type GatedShard } from "./crash-gate.ts";
import { runWorkers } from "./run-workers.ts";
import { keyOf, LEASE_MS, numberedSource, RUN, TokenSink, World, type NumberedItem } from "./world.fixture.ts";

const COUNT = 120;
const all = Array.from({ length: COUNT }, (_, n) => n);

interface Poison {
  readonly poisoned: readonly number[];
  readonly concurrency: number;
  readonly itemConcurrency: number;
  readonly shards: number;
  readonly itemMs: number;
}

/** Run processes one after another, each until it dies or the run is done. A dead process never calls its store again. */
async function runUntilDone({ poisoned, concurrency, itemConcurrency, shards, itemMs }: Poison) {
  const world = new World();
  const source = numberedSource(COUNT);
  await world.start(source, shards);
  const sink = new TokenSink();
  const never = new Promise<void>(() => undefined);
  let crashes = 0;
  for (;;) {
    let isDead = false;
    let die = (): void => undefined;
    const dead = new Promise<"Dead">((resolve) => (die = () => resolve("Dead")));
    const store = new FaultInjectingStore(world.store, { delay: () => (isDead ? never : undefined) });
    const retry = { sleep: (ms: number) => world.time.sleep(ms) };
    const coordinator = new Coordinator({ store, clock: world.clock, retry });
    const process = async ({ n }: NumberedItem): Promise<number> => {
      if (isDead) return never as never;
      if (itemMs > 0) await world.time.sleep(itemMs);
      if (!isDead && poisoned.includes(n)) {
        isDead = true;
        crashes++;
        die();
      }
      return isDead ? (never as never) : n;
    };
    const options = { coordinator, run: RUN, source, sink, process, concurrency, itemConcurrency, time: world.time };
    const work = runWorkers({
      ...options,
      worker: WorkerId.fromRaw(BigInt(crashes + 1)),
      onItemFailure: "skip",
      checkpointEvery: { ms: 200 },
    });
    const ended = await world.time.runUntil(Promise.race([work, dead]));
    if (ended !== "Dead") {
      const failures = unwrap(await world.coordinator.listFailures(RUN)).items;
      return { crashes, summary: ended, failures, results: await sink.results(world.coordinator) };
    }
    expect(crashes).toBeLessThan(40);
    // The next process starts when the leases have expired.
    await world.time.runUntil(world.time.sleep(2 * LEASE_MS));
  }
}

describe("an item that kills its process", () => {
  const plans: readonly Poison[] = [
    { poisoned: [50], concurrency: 1, itemConcurrency: 1, shards: 1, itemMs: 0 },
    { poisoned: [0], concurrency: 1, itemConcurrency: 1, shards: 1, itemMs: 10 },
    { poisoned: [50], concurrency: 1, itemConcurrency: 8, shards: 1, itemMs: 10 },
    { poisoned: [50], concurrency: 4, itemConcurrency: 2, shards: 6, itemMs: 10 },
    { poisoned: [119], concurrency: 3, itemConcurrency: 1, shards: 3, itemMs: 90 },
  ];
  test.each(plans)("is set aside after at most four crashes, and no other: %o", async (plan) => {
    const { crashes, summary, failures, results } = await runUntilDone(plan);
    expect(summary.stopped).toEqual({ kind: "Done" });
    expect(failures).toMatchObject([{ key: keyOf(plan.poisoned[0]!), reason: "Crashed" }]);
    expect(results.toSorted((a, b) => a - b)).toEqual(all);
    expect(crashes).toBeLessThanOrEqual(4);
  });

  test("is found beside another one of the same shard", async () => {
    const plan = { poisoned: [30, 31, 90], concurrency: 2, itemConcurrency: 1, shards: 2, itemMs: 5 };
    const { crashes, failures, results } = await runUntilDone(plan);
    expect(failures.map(({ key }) => key)).toEqual([30, 31, 90].map(keyOf));
    expect(results.toSorted((a, b) => a - b)).toEqual(all);
    expect(crashes).toBeLessThanOrEqual(12);
  });

  test("is tried again after an operator unparks its shard", async () => {
    const world = new World();
    const source = numberedSource(1);
    await world.start(source);
    const base = { run: RUN, source, time: world.time };
    for (let crash = 1n; crash <= 3n; crash++) {
      let die = (): void => undefined;
      const dead = new Promise<void>((resolve) => (die = resolve));
      const process = (): Promise<never> => {
        die();
        return new Promise(() => undefined);
      };
      // From then on it reaches the store no more, as if its process were gone: the lease expires.
      let isDead = false;
      const never = new Promise<never>(() => undefined);
      const store = new FaultInjectingStore(world.store, { delay: () => (isDead ? never : undefined) });
      const coordinator = new Coordinator({ store, clock: world.clock });
      void runWorkers({ ...base, coordinator, worker: WorkerId.fromRaw(crash), process });
      await world.time.runUntil(dead);
      isDead = true;
      await world.time.runUntil(world.time.sleep(2 * LEASE_MS));
    }
    const { coordinator } = world;
    const parking = runWorkers({ ...base, coordinator, worker: WorkerId.fromRaw(8n), process: () => undefined });
    expect(await world.time.runUntil(parking)).toMatchObject({ items: 0, shards: { parked: 1 } });

    const { shard } = unwrap(await coordinator.listShards({ ...RUN, limit: 1 })).items[0]!;
    const key = { run: RUN.run, shard };
    unwrap(await coordinator.unpark({ tenant: RUN.tenant, key, opId: OpId.fromRaw(1n) }));
    const again = runWorkers({ ...base, coordinator, worker: WorkerId.fromRaw(9n), process: () => undefined });
    expect(await world.time.runUntil(again)).toMatchObject({ items: 1, shards: { parked: 0, completed: 1 } });
  });

  test("is not one that ran when its process was stopped three times: nothing is set aside", async () => {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source);
    for (let turn = 0; turn < 5; turn++) {
      const stop = new AbortController();
      const process = async (): Promise<void> => {
        stop.abort();
        await world.time.sleep(60_000);
      };
      const base = { coordinator: world.coordinator, run: RUN, source, time: world.time, graceMs: 10 };
      await world.time.runUntil(runWorkers({ ...base, process, signal: stop.signal, onItemFailure: "skip" }));
    }
    const base = { coordinator: world.coordinator, run: RUN, source, time: world.time };
    const summary = await world.time.runUntil(runWorkers({ ...base, process: () => undefined }));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, items: COUNT, failures: 0 });
    expect(unwrap(await world.coordinator.countFailures(RUN))).toBe(0);
  });
});

describe("the gate", () => {
  test("lets one shard run once the others are idle, and the others again after it", () => {
    const changes: string[] = [];
    const shard = (name: string): GatedShard & { isBusy: boolean } => ({
      isBusy: false,
      onGateChange: () => void changes.push(name),
    });
    const [suspect, other] = [shard("suspect"), shard("other")];
    const gate = new CrashGate([suspect, other], () => changes.push("open"));
    other.isBusy = true;
    expect([gate.isOpenFor(other), gate.tryTake(suspect)]).toEqual([true, false]);
    expect([gate.isOpenFor(other), gate.isOpenFor(suspect), gate.isTaken]).toEqual([false, true, true]);
    other.isBusy = false;
    gate.changed();
    expect([gate.tryTake(suspect), gate.tryTake(other)]).toEqual([true, false]);
    gate.release(other);
    expect(gate.isTaken).toBe(true);
    gate.release(suspect);
    expect([gate.isTaken, changes]).toEqual([false, ["suspect", "suspect", "other", "open"]]);
  });
});
