// Most checkpoints leave the lease alone, so a renewal that comes too late lets another worker claim the shard while this one
// makes progress. Every write is checked against the deadline in the store: a lease that expired before it was renewed counts
// as lapsed, whether or not another worker was there to claim it.

import { Coordinator } from "@gossip/coordination";
import { FaultInjectingStore } from "@gossip/coordination/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runWorkers } from "./run-workers.ts";
import { numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

/** What gets in the way of a renewal, at most for this share of the lease. */
const DISTURBANCES = {
  /** Every write takes this long. A note of the worker may be written before a renewal. */
  SlowStore: 0.4,
  /** Every write takes up to this long. */
  UnsteadyStore: 0.24,
  /** Every write fails for this long. */
  Outage: 0.16,
  /** The event loop stands still for this long. */
  Block: 0.3,
  /** The sink takes this long to make results durable. */
  SlowSink: 5,
} as const;

const KINDS = Object.keys(DISTURBANCES) as (keyof typeof DISTURBANCES)[];

interface Plan {
  readonly seed: number;
  readonly leaseMs: number;
  /** Relative to the lease. */
  readonly itemShare: number;
  readonly checkpointShare: number;
  readonly checkpointItems: number;
  readonly kind: keyof typeof DISTURBANCES;
  /** Relative to the most that the kind allows. */
  readonly share: number;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  seed: fc.nat({ max: 2 ** 31 }),
  leaseMs: fc.constantFrom(60, 1000, 3000, 30_000),
  itemShare: fc.constantFrom(0.02, 0.1, 0.2, 1.5),
  checkpointShare: fc.constantFrom(0.02, 0.1, 0.32, 0.34, 2),
  checkpointItems: fc.constantFrom(1, 7, 1_000_000),
  kind: fc.constantFrom(...KINDS),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** Work for three leases at least, or until the lease lapses. */
async function work({ seed, leaseMs, itemShare, checkpointShare, checkpointItems, kind, share }: Plan) {
  const world = new World({ seed });
  const { time, clock } = world;
  const count = Math.ceil(3 / itemShare);
  const source = numberedSource(count, { batchSize: 100 });
  await world.start(source, 1, { leaseDuration: BigInt(leaseMs) });
  const disturbedMs = DISTURBANCES[kind] * share * leaseMs;
  const lapsed = new AbortController();
  let deadline: bigint | undefined;
  let renewals = 0;
  let outage = { startMs: 0, endMs: 0 };
  let isDone = false;
  const store = new FaultInjectingStore(world.store, {
    onCommit: (set) => {
      if (set.kind !== "UpdateShard") return undefined;
      if (deadline !== undefined && clock.now() >= deadline) lapsed.abort();
      const nowMs = time.nowMs();
      if (kind === "Outage" && deadline !== undefined && nowMs >= outage.startMs)
        outage = { startMs: nowMs + leaseMs * (1 + time.random()), endMs: nowMs + disturbedMs };
      if (nowMs < outage.endMs) return "Failed";
      const next = set.shard.after.lease?.deadline;
      if (deadline !== undefined && next !== undefined && next > deadline) renewals++;
      deadline = next;
      return undefined;
    },
    delay: (moment) => {
      // Of the commit and the read of the capacity hint that make up a write, each is delayed on its way to the store.
      if (moment === "Response") return undefined;
      if (kind === "SlowStore") return time.sleep(disturbedMs / 2);
      return kind === "UnsteadyStore" ? time.sleep((disturbedMs / 2) * time.random()) : undefined;
    },
  });
  const coordinator = new Coordinator({ store, clock, retry: { maxAttempts: 1 } });
  const block = async (): Promise<void> => {
    while (kind === "Block" && !isDone) {
      await time.sleep(leaseMs * (0.2 + time.random()));
      time.block(disturbedMs);
    }
  };
  const working = runWorkers({
    coordinator,
    run: RUN,
    source,
    time,
    sink: new TokenSink(() => time.sleep(kind === "SlowSink" ? disturbedMs : 0)),
    process: () => time.sleep(itemShare * leaseMs),
    checkpointEvery: { items: checkpointItems, ms: Math.ceil(checkpointShare * leaseMs) },
    split: false,
    signal: lapsed.signal,
  }).finally(() => (isDone = true));
  const [summary] = await time.runUntil(Promise.all([working, block()]));
  return { summary, isLapsed: lapsed.signal.aborted, renewals, count };
}

describe("a worker that makes progress", () => {
  test.each(KINDS)("keeps its lease: %s", async (kind) => {
    await fc.assert(
      fc.asyncProperty(plan, async (drawn) => {
        const { summary, isLapsed, renewals, count } = await work({ ...drawn, kind });
        expect(summary).toMatchObject({ items: count, shards: { claimed: 1, completed: 1, lost: 0 } });
        expect(isLapsed).toBe(false);
        expect(renewals).toBeGreaterThanOrEqual(2);
      }),
      { numRuns: 20 },
    );
  });

  test("does not keep it when the store is slower than that, or these would prove nothing", async () => {
    const slow = { seed: 1, leaseMs: 1000, itemShare: 0.1, checkpointShare: 0.1, checkpointItems: 7, share: 4 };
    const { isLapsed } = await work({ ...slow, kind: "SlowStore" });
    expect(isLapsed).toBe(true);
  });
});
