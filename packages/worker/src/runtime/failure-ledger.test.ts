// The ledger answers "what was left out?" after the fact. An item that was skipped and is not in it is lost without a trace;
// one that is in it and was done is processed again for nothing.

import { Coordinator, type FailureInput, type ItemFailure } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runWorkers } from "./run-workers.ts";
import { keyOf, numberedSource, RUN, TokenSink, World, type NumberedItem } from "./world.fixture.ts";

const COUNT = 200;

async function ledger({ coordinator }: World): Promise<ItemFailure[]> {
  const failures: ItemFailure[] = [];
  let after: Uint8Array | undefined;
  do {
    const page = unwrap(await coordinator.listFailures({ ...RUN, limit: 1000, after }));
    failures.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return failures;
}

function baseOf(world: World, source = numberedSource(COUNT)) {
  return { coordinator: world.coordinator, run: RUN, source, time: world.time, name: "tester" };
}

describe("skipped items", () => {
  test("are in the ledger, with attempts, error, time and worker; unreadable ones too", async () => {
    const world = new World();
    const source = numberedSource(COUNT, { isProblem: (n) => n === 20 });
    await world.start(source, 2);
    const process = ({ n }: NumberedItem): void => {
      if (n === 10) throw new Error("no ten");
      // oxlint-disable-next-line no-throw-literal -- modules do that
      if (n === 150) throw "text";
    };
    const options = { ...baseOf(world, source), process, onItemFailure: "skip", retry: { maxAttempts: 3 } } as const;
    const summary = await world.time.runUntil(runWorkers(options));
    expect(summary).toMatchObject({ stopped: { kind: "Done" }, failures: 2, problems: 1 });
    const failures = await ledger(world);
    expect(failures).toMatchObject([
      { key: keyOf(10), attempts: 3, reason: "ItemFailed", error: "no ten", workerName: "tester" },
      { key: keyOf(20), attempts: 1, reason: "Unreadable", error: "unreadable" },
      { key: keyOf(150), attempts: 3, reason: "ItemFailed", error: "text" },
    ]);
    for (const { at } of failures) expect(at).toBeGreaterThan(1_000_000n);
    expect(unwrap(await world.coordinator.countFailures(RUN))).toBe(3);
  });

  test("are exactly those in the ledger, however many fail at once, and however the store fails", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 0.05, 0.5, 1),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        fc.nat({ max: 1000 }),
        async (share, itemConcurrency, items, isAsync, seed) => {
          const world = new World({ seed });
          const source = numberedSource(COUNT, { batchSize: 50, isProblem: (n) => n % 17 === 3 });
          await world.start(source, 2);
          const faulty = new FaultInjectingStore(world.store, {
            onCommit: (set) =>
              set.kind === "UpdateShard" && world.time.random() < 0.2
                ? world.time.random() < 0.5
                  ? "Failed"
                  : "UnknownMade"
                : undefined,
          });
          const retry = { maxAttempts: 1, sleep: (ms: number) => world.time.sleep(ms) };
          const coordinator = new Coordinator({ store: faulty, clock: world.clock, retry });
          const isBad = (n: number): boolean => ((n * 7919) % 100) / 100 < share;
          const process = ({ n }: NumberedItem): Promise<void> | undefined => {
            if (!isAsync) {
              if (isBad(n)) throw new Error(`no ${n}`);
              return undefined;
            }
            return world.time.sleep(n % 7).then(() => {
              if (isBad(n)) throw new Error(`no ${n}`);
            });
          };
          const sink = new TokenSink();
          const options = { ...baseOf(world, source), coordinator, process, sink, itemConcurrency } as const;
          const summary = await world.time.runUntil(
            runWorkers({
              ...options,
              onItemFailure: "skip",
              retry: { maxAttempts: 1 },
              checkpointEvery: { items, ms: 100 },
            }),
          );
          expect(summary.stopped).toEqual({ kind: "Done" });
          const expected = Array.from({ length: COUNT }, (_, n) => n).filter((n) => n % 17 === 3 || isBad(n));
          expect((await ledger(world)).map(({ key }) => key)).toEqual(expected.map(keyOf));
          expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: COUNT }, (_, n) => n),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test("are recorded in the write that moves past them, not before and not after", async () => {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source);
    const recorded: (readonly FailureInput[] | undefined)[] = [];
    const watching = new FaultInjectingStore(world.store, {
      onCommit: (set) => {
        if (set.kind === "UpdateShard" && set.notes !== undefined) recorded.push(set.notes as never);
        return undefined;
      },
    });
    const coordinator = new Coordinator({ store: watching, clock: world.clock });
    const process = ({ n }: NumberedItem): void => {
      if (n === 50) throw new Error("no");
    };
    const base = { ...baseOf(world, source), coordinator, process } as const;
    await world.time.runUntil(runWorkers({ ...base, onItemFailure: "skip", checkpointEvery: { items: 10 } }));
    expect(recorded.filter((notes) => notes!.length > 0)).toHaveLength(1);
    expect(await ledger(world)).toHaveLength(1);
  });
});

describe("a parked shard", () => {
  interface ParkedCase {
    readonly by: string;
    readonly change: { readonly onProblem?: "park"; readonly readRetry?: { readonly maxAttempts: number } };
    readonly isUnreadable?: boolean;
    readonly detail: { readonly item: Uint8Array | undefined; readonly attempts: number; readonly error: string };
  }

  const cases: readonly ParkedCase[] = [
    { by: "an item", change: {}, detail: { item: keyOf(10), attempts: 2, error: "no ten" } },
    { by: "a problem", change: { onProblem: "park" }, detail: { item: keyOf(5), attempts: 1, error: "unreadable" } },
    {
      by: "its source",
      change: { readRetry: { maxAttempts: 3 } },
      isUnreadable: true,
      detail: { item: undefined, attempts: 3, error: "no more" },
    },
  ];
  test.each(cases)("says why: by $by", async ({ change, isUnreadable = false, detail }) => {
    const world = new World();
    const source = numberedSource(COUNT, {
      isProblem: (n) => n === 5,
      between: async (from) => {
        if (isUnreadable && from > 3) throw new Error("no more");
      },
    });
    await world.start(source);
    const process = ({ n }: NumberedItem): void => {
      if (n === 10) throw new Error("no ten");
    };
    await world.time.runUntil(runWorkers({ ...baseOf(world, source), process, retry: { maxAttempts: 2 }, ...change }));
    const page = unwrap(await world.coordinator.listParkedDetails(RUN));
    expect(page.items).toMatchObject([{ ...detail, workerName: "tester" }]);
    // The item that parked its shard was not passed, so it is not in the ledger.
    for (const { key } of await ledger(world)) expect(key).not.toEqual(detail.item);
  });
});

describe("a run that fails as a whole", () => {
  const fails = ({ n }: NumberedItem): void => {
    if (n % 2 === 0) throw new Error("no");
  };

  test("is aborted once more items failed than allowed, and can be resumed", async () => {
    const world = new World();
    const base = baseOf(world);
    await world.start(base.source, 2);
    const options = { ...base, process: fails, onItemFailure: "skip", retry: { maxAttempts: 1 } } as const;
    const summary = await world.time.runUntil(runWorkers({ ...options, maxFailures: 9 }));
    expect(summary.stopped).toEqual({ kind: "TooManyFailures", failures: 10 });
    expect((await ledger(world)).length).toBeLessThanOrEqual(11);
    const rest = await world.time.runUntil(runWorkers({ ...options, process: () => undefined }));
    expect(rest.stopped).toEqual({ kind: "Done" });
  });

  test("is aborted for what other workers recorded", async () => {
    const world = new World();
    const base = baseOf(world);
    await world.start(base.source, 2);
    const options = { ...base, onItemFailure: "skip", retry: { maxAttempts: 1 } } as const;
    await world.time.runUntil(runWorkers({ ...options, process: fails, maxFailures: 20 }));
    const slow = () => world.time.sleep(1000);
    const summary = await world.time.runUntil(runWorkers({ ...options, process: slow, maxFailures: 9 }));
    expect(summary).toMatchObject({ stopped: { kind: "TooManyFailures" }, failures: 0 });
  });

  test("is aborted for a share of its items", async () => {
    const world = new World();
    const base = baseOf(world);
    await world.start(base.source, 2);
    const options = { ...base, process: fails, onItemFailure: "skip", retry: { maxAttempts: 1 } } as const;
    const summary = await world.time.runUntil(runWorkers({ ...options, maxFailures: "30%" }));
    expect(summary.stopped).toMatchObject({ kind: "TooManyFailures" });
    expect(summary.items + summary.failures).toBeLessThan(COUNT);
  });
});

describe("the registry of workers", () => {
  test("has this worker with what it holds while it works, and no longer", async () => {
    const world = new World();
    const base = baseOf(world);
    await world.start(base.source, 2);
    const seen: unknown[] = [];
    const process = async ({ n }: NumberedItem) => {
      await world.time.sleep(1000);
      if (n === 90) seen.push(...unwrap(await world.coordinator.listWorkers(RUN)).items);
    };
    await world.time.runUntil(runWorkers({ ...base, process, concurrency: 2, version: "1.2.3" }));
    expect(seen).toMatchObject([{ name: "tester", version: "1.2.3", shardCount: 2 }]);
    expect(seen).toMatchObject([{ itemsPerSecond: expect.closeTo(2, 0) as number }]);
    expect(unwrap(await world.coordinator.listWorkers(RUN)).items).toEqual([]);
  });
});
