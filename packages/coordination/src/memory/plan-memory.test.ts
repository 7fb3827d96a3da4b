// A slab that is planned too small refuses checkpoints in the middle of a run, when it is too late to plan; one that is
// planned too large wastes memory.

import { Cursor, OpId, ShardId, ShardSpec } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Coordinator } from "../coordinator/coordinator.ts";
import { RUN, TENANT, worker } from "../kernel/world.fixture.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { MemoryStore } from "./memory-store.ts";
import { planMemory } from "./plan-memory.ts";

const WIDTH = 8;
const key = (index: number) => new TextEncoder().encode(String(index).padStart(WIDTH, "0"));

async function makeRun(load: { readonly shards: number; readonly metadataSize: number; readonly tokenSize: number }) {
  const specSize = 2 * WIDTH + load.metadataSize;
  const { slabCapacity } = planMemory({ shards: load.shards, runs: 1, specSize, cursorSize: WIDTH + load.tokenSize });
  const store = new MemoryStore({ slabCapacity });
  const coordinator = new Coordinator({ store, clock: new ManualClock(1n) });
  const metadata = new Uint8Array(load.metadataSize);
  const shards = Array.from({ length: load.shards }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRangeAndMetadata({ start: key(index), end: key(index + 1), metadata }),
    cursor: Cursor.initial(),
  }));
  unwrap(
    await coordinator.createRunWithShards({
      tenant: TENANT,
      run: RUN,
      config: { leaseDuration: 1000n },
      shards,
      opId: OpId.random(),
    }),
  );
  return { store, coordinator, slabCapacity };
}

describe("planMemory", () => {
  test("holds every shard, and every checkpoint of every shard, in any order", async () => {
    const load = fc.record({
      shards: fc.integer({ min: 1, max: 12 }),
      metadataSize: fc.integer({ min: 0, max: 100 }),
      tokenSize: fc.integer({ min: 0, max: 100 }),
      order: fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(load, async ({ order, ...sizes }) => {
        const { coordinator, slabCapacity, store } = await makeRun(sizes);
        const sessions = unwrap(
          await coordinator.claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: sizes.shards }),
        );
        for (const pick of order) {
          const session = sessions[pick % sessions.length]!;
          const cursor = Cursor.fromParts({
            lastKey: session.spec.keyRangeStart,
            token: new Uint8Array(sizes.tokenSize).fill(pick),
          });
          unwrap(await session.checkpoint(cursor));
        }
        expect(store.slabBytesUsed).toBeLessThanOrEqual(slabCapacity);
      }),
      { numRuns: 60 },
    );
  });

  test("leaves no more free than two blocks", async () => {
    const { coordinator, store, slabCapacity } = await makeRun({ shards: 100, metadataSize: 48, tokenSize: 24 });
    for (const session of unwrap(
      await coordinator.claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: 100 }),
    )) {
      unwrap(
        await session.checkpoint(Cursor.fromParts({ lastKey: session.spec.keyRangeStart, token: new Uint8Array(24) })),
      );
    }
    expect(slabCapacity - store.slabBytesUsed).toBe(2 * 64);
  });

  test("counts what a log takes, and nothing for what is not there", () => {
    const load = { shards: 1000, runs: 0, specSize: 0, cursorSize: 0 };
    const full = planMemory(load);
    const bare = planMemory({ ...load, loggedOps: 0 });
    expect(full.slabCapacity).toBe(0);
    expect(full.totalBytes).toBe(full.heapBytes);
    expect(full.heapBytes - bare.heapBytes).toBe(1000 * 16 * 176);
    expect(planMemory({ ...load, runs: 5 }).heapBytes - full.heapBytes).toBe(5 * 4096);
  });

  test.each([
    null,
    {},
    { shards: -1 },
    { shards: 1, runs: 1, specSize: 1, cursorSize: 1, loggedOps: 17 },
    { shards: 1, runs: 1, specSize: 100_000, cursorSize: 1 },
  ])("refuses %o", (load) => {
    expect(() => planMemory(load as never)).toThrow(InvariantViolation);
  });
});
