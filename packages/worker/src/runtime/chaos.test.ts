// What goes wrong together is what loses items: a worker killed while it splits, a checkpoint whose answer was lost, an item
// that fails behind one that hangs. Here all of it happens at random, and what must hold is checked on every write.

import { FaultInjectingStore, type CommitFault } from "@gossip/coordination/testing";
import { OpId, WorkerId } from "@gossip/contracts";
import { Coordinator, type ShardRecord, type WriteSet } from "@gossip/coordination";
import { assert, compareBytes, unwrap } from "@gossip/stdx";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Source } from "../sources/source.ts";
import type { ItemContext } from "./item-context.ts";
import { runWorkers } from "./run-workers.ts";
import { keyOf, LEASE_MS, type NumberedItem, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const MISHAPS = ["Kill", "Abort", "Block"] as const;

interface Mishap {
  readonly afterMs: number;
  readonly kind: (typeof MISHAPS)[number];
}

interface Chaos {
  readonly seed: number;
  readonly count: number;
  readonly shardCount: number;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly itemConcurrency: number;
  readonly checkpointItems: number;
  readonly failing: number;
  readonly faults: number;
  /** Whether the source says where to cut. It takes its time, and the work goes on meanwhile. */
  readonly hasAdvice: boolean;
  /** Every so many items the source has a problem instead of an item. */
  readonly problemEvery: number;
  /** Of each process, one after the other; after the last it goes on until the run is done. */
  readonly processes: readonly (readonly Mishap[])[];
}

const chaos: fc.Arbitrary<Chaos> = fc.record({
  seed: fc.nat({ max: 2 ** 31 }),
  count: fc.integer({ min: 0, max: 60 }),
  shardCount: fc.integer({ min: 1, max: 3 }),
  batchSize: fc.integer({ min: 1, max: 20 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  itemConcurrency: fc.integer({ min: 1, max: 4 }),
  checkpointItems: fc.integer({ min: 1, max: 10 }),
  failing: fc.constantFrom(0, 0.1, 0.3),
  faults: fc.constantFrom(0, 0.05, 0.2),
  hasAdvice: fc.boolean(),
  problemEvery: fc.constantFrom(2, 7, 1000),
  processes: fc.array(
    fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 2 * LEASE_MS }), kind: fc.constantFrom(...MISHAPS) }), {
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

const FAULTS: readonly CommitFault[] = ["Conflict", "Failed", "UnknownNotMade", "UnknownMade"];

function isProblem({ problemEvery }: Chaos, n: number): boolean {
  return n % problemEvery === problemEvery - 1;
}

/** One world with everything that goes wrong in it. */
class Trouble {
  readonly world: World;
  readonly sink: TokenSink;
  readonly begun = new Set<number>();
  readonly finished = new Set<number>();
  readonly #chaos: Chaos;
  isCalm = false;
  #ids = 0n;

  constructor(plan: Chaos) {
    this.#chaos = plan;
    this.world = new World({ seed: plan.seed });
    this.sink = new TokenSink(() => this.world.time.sleep(this.#chance() * 40));
  }

  #chance(): number {
    return this.world.time.random();
  }

  /** Not drawn from the system: shard ids come from op ids, and a seed must play the same every time. */
  readonly #newOpId = (): OpId => OpId.fromRaw(++this.#ids);

  /** Progress must never be ahead of the work, not even in a write that fails. */
  #check(record: ShardRecord): void {
    const { keyRangeStart: start, keyRangeEnd: end } = record.spec;
    const { lastKey } = record.cursor;
    for (let n = 0; n < this.#chaos.count; n++) {
      const key = keyOf(n);
      const isInRange = compareBytes(key, start) >= 0 && compareBytes(key, end) < 0;
      const isPassed = record.status === "Done" || (lastKey !== undefined && compareBytes(key, lastKey) <= 0);
      if (isInRange && isPassed && !isProblem(this.#chaos, n))
        assert(this.finished.has(n), `item ${n} was passed over`);
    }
  }

  #onCommit(set: WriteSet): CommitFault | undefined {
    if (set.kind === "UpdateShard" || set.kind === "SplitShard") this.#check(set.shard.after);
    if (this.isCalm || this.#chance() >= this.#chaos.faults) return undefined;
    return FAULTS[Math.floor(this.#chance() * FAULTS.length)];
  }

  /** Some items are done when the call is, others later. */
  #process(item: NumberedItem, context: ItemContext): number | Promise<number> {
    this.begun.add(item.n);
    if (this.#chance() < 0.5) return this.#processLater(item, context);
    this.finished.add(item.n);
    return item.n;
  }

  async #processLater({ n }: NumberedItem, { signal }: ItemContext): Promise<number> {
    await this.world.time.sleep(this.#chance() * 120);
    if (!this.isCalm && this.#chance() < this.#chaos.failing) throw new Error("at random");
    if (!signal.aborted) this.finished.add(n);
    return n;
  }

  #source(): Source<NumberedItem> {
    const { count, batchSize, hasAdvice } = this.#chaos;
    const between = async (): Promise<void> => {
      if (this.#chance() < 0.5) await this.world.time.sleep(this.#chance() * 150);
      if (!this.isCalm && this.#chance() < 0.1) throw new Error("at random");
    };
    const source = numberedSource(count, { batchSize, between, isProblem: (n) => isProblem(this.#chaos, n) });
    if (!hasAdvice) return source;
    return {
      ...source,
      splitPoint: async ({ range, after }) => {
        const rest: NumberedItem[] = [];
        for await (const { items } of source.read({ range, after, signal: new AbortController().signal }))
          rest.push(...items);
        await this.world.time.sleep(this.#chance() * 300);
        return rest[Math.floor(this.#chance() * rest.length)]?.key;
      },
    };
  }

  /** What an operator does. A shard whose holders were lost three times without progress is parked: its item is suspected. */
  async unparkAll(): Promise<void> {
    const { coordinator } = this.world;
    const parked = unwrap(await coordinator.listShards({ ...RUN, filter: { status: "Parked" }, limit: 1000 }));
    for (const { shard } of parked.items) {
      const key = { run: RUN.run, shard };
      unwrap(await coordinator.unpark({ tenant: RUN.tenant, key, opId: this.#newOpId() }));
    }
  }

  /** A process that works until the next thing happens to it. */
  async live(mishaps: readonly Mishap[]): Promise<void> {
    const { time, clock, store } = this.world;
    const { concurrency, itemConcurrency, checkpointItems } = this.#chaos;
    for (const mishap of [...mishaps, undefined]) {
      let isDead = false;
      const never = new Promise<never>(() => undefined);
      const faulty = new FaultInjectingStore(store, {
        onCommit: (set) => this.#onCommit(set),
        delay: () => (isDead ? never : undefined),
      });
      const coordinator = new Coordinator({
        store: faulty,
        clock,
        newOpId: this.#newOpId,
        retry: { maxAttempts: 3, sleep: (ms) => time.sleep(ms), random: () => time.random() },
      });
      const controller = new AbortController();
      let kill = (): void => undefined;
      const killed = new Promise<void>((resolve) => (kill = resolve));
      if (mishap !== undefined) {
        time.startTimer(mishap.afterMs, () => {
          if (mishap.kind === "Block") return time.block(LEASE_MS * 1.5);
          if (mishap.kind === "Abort") return controller.abort();
          isDead = true;
          return kill();
        });
      }
      const working = runWorkers({
        coordinator,
        run: RUN,
        worker: WorkerId.fromRaw(++this.#ids),
        newOpId: this.#newOpId,
        source: this.#source(),
        time,
        sink: this.sink,
        process: (item, context) => (isDead ? never : this.#process(item, context)),
        concurrency,
        itemConcurrency,
        checkpointEvery: { items: checkpointItems, ms: 200 },
        retry: { maxAttempts: 1000, baseMs: 5, maxMs: 50 },
        patienceMs: 100 * LEASE_MS,
        signal: controller.signal,
        graceMs: 60,
        readRetry: { maxAttempts: 100, baseMs: 5, maxMs: 40 },
        split: { minHandoverMs: 0, minIntervalMs: 0 },
      });
      const summary = await Promise.race([working, killed]);
      if (summary !== undefined) expect(["Done", "Aborted"]).toContain(summary.stopped.kind);
    }
  }
}

async function survive(plan: Chaos): Promise<Trouble> {
  const trouble = new Trouble(plan);
  const { world } = trouble;
  await world.start(
    numberedSource(plan.count, { batchSize: plan.batchSize }),
    plan.count < plan.shardCount ? 1 : plan.shardCount,
  );
  await world.time.runUntil(Promise.all(plan.processes.map((mishaps) => trouble.live(mishaps))));
  trouble.isCalm = true;
  await trouble.unparkAll();
  await world.time.runUntil(trouble.live([]));
  return trouble;
}

describe("whatever goes wrong", () => {
  test("every item is processed, each result counts once, and progress is never ahead of the work", async () => {
    let splits = 0;
    await fc.assert(
      fc.asyncProperty(chaos, async (plan) => {
        const { world, sink, begun, finished } = await survive(plan);
        const all = Array.from({ length: plan.count }, (_, n) => n);
        const good = all.filter((n) => !isProblem(plan, n));
        expect([...begun].toSorted((a, b) => a - b)).toEqual(good);
        expect([...finished].toSorted((a, b) => a - b)).toEqual(good);
        expect((await sink.results(world.coordinator)).toSorted((a, b) => a - b)).toEqual(all);
        const progress = unwrap(await world.coordinator.getRunProgress(RUN));
        expect(progress).toMatchObject({ active: 0, parked: 0 });
        splits += progress.total - plan.shardCount;
      }),
      { numRuns: 50, examples: fixedExamples(20, chaos) },
    );
    // A property that never met a split would say nothing about them.
    expect(splits).toBeGreaterThan(10);
  });
});
