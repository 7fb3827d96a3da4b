// A store that runs out of room half-way through a write would leave a shard without its bytes, or bytes without a
// shard. Whatever does not fit must leave everything as it was, down to the last block.

import { RunId, type TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Coordinator } from "../coordinator/coordinator.ts";
import { at, initial, KEY, op, replacePlan, residualPlan, RUN, TENANT, worker } from "../kernel/world.fixture.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { MemoryStore } from "./memory-store.ts";

const config = { leaseDuration: 100n };

function world(slabCapacity: number) {
  const store = new MemoryStore({ slabCapacity });
  return { store, coordinator: new Coordinator({ store, clock: new ManualClock(10n) }) };
}

/** Everything that can be read of a run's shards. */
async function stateOf(coordinator: Coordinator, run = RUN, tenant: TenantId = TENANT) {
  const { items } = unwrap(await coordinator.listShards({ tenant, run, limit: 1000 }));
  return Promise.all(
    items.map(async ({ shard }) => unwrap(await coordinator.getShard({ tenant, key: { run, shard } }))),
  );
}

describe("a slab that is full", () => {
  test("refuses a checkpoint and leaves the old cursor", async () => {
    const { store, coordinator } = world(64);
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config,
        shards: [initial(10, "a", "z")],
        opId: op(1),
      }),
    );
    const { lease } = unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).value;
    const checkpoint = (key: string, opId: number) =>
      coordinator.checkpoint({ tenant: TENANT, lease, cursor: at(key), opId: op(opId) });
    unwrap(await checkpoint("c", 2));
    const before = await stateOf(coordinator);
    const used = store.slabBytesUsed;
    const full = {
      kind: "ResourceExhausted",
      resource: "shard_slab",
      slab: { kind: "SlabFull", requested: 64, available: 32 },
    };
    expect(await checkpoint("d".repeat(40), 3)).toMatchObject({ error: full });
    expect(await coordinator.complete({ tenant: TENANT, lease, point: at("d".repeat(40)), opId: op(3) })).toMatchObject(
      { error: full },
    );
    expect(await stateOf(coordinator)).toEqual(before);
    expect(store.slabBytesUsed).toBe(used);
    unwrap(await checkpoint("d", 3));
  });

  test("refuses splits as a whole", async () => {
    const { store, coordinator } = world(48);
    unwrap(
      await coordinator.createRunWithShards({
        tenant: TENANT,
        run: RUN,
        config,
        shards: [initial(10, "a", "z")],
        opId: op(1),
      }),
    );
    const { lease } = unwrap(await coordinator.acquire({ tenant: TENANT, key: KEY, worker: worker(1) })).value;
    const before = await stateOf(coordinator);
    const three = replacePlan({ start: "a", end: "g" }, { start: "g", end: "m" }, { start: "m", end: "z" });
    expect(await coordinator.splitReplace({ tenant: TENANT, lease, plan: three, opId: op(2) })).toMatchObject({
      // Measured once everything was given back: a block of 32 is there again.
      error: { kind: "ResourceExhausted", slab: { requested: 16, available: 32 } },
    });
    expect(await stateOf(coordinator)).toEqual(before);
    expect(store.slabBytesUsed).toBe(16);
    // A residual split needs room for the residual and for the shard's new range before the old one goes.
    unwrap(await coordinator.splitResidual({ tenant: TENANT, lease, plan: residualPlan("a", "m", "z"), opId: op(3) }));
    expect(store.slabBytesUsed).toBe(32);
    const narrowed = await stateOf(coordinator);
    expect(
      await coordinator.splitResidual({ tenant: TENANT, lease, plan: residualPlan("a", "g", "m"), opId: op(4) }),
    ).toMatchObject({ error: { kind: "ResourceExhausted" } });
    expect(await stateOf(coordinator)).toEqual(narrowed);
    expect(store.slabBytesUsed).toBe(32);
  });

  test("refuses a registration as a whole, and names what ran out", async () => {
    const { store, coordinator } = world(32);
    const shards = [initial(1, "a", "b"), initial(2, "c", "d"), initial(3, "e", "f")];
    expect(
      await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config, shards, opId: op(1) }),
    ).toMatchObject({
      error: { kind: "RegisterShardsFailed", reason: { kind: "ResourceExhausted", resource: "shard_slab" } },
    });
    expect(await coordinator.getRun({ tenant: TENANT, run: RUN })).toMatchObject({ error: { kind: "RunNotFound" } });
    expect([store.slabBytesUsed, store.shardCount]).toEqual([0, 0]);
    unwrap(
      await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config, shards: shards.slice(1), opId: op(1) }),
    );
  });
});

test("every byte is given back when its run is deleted, whatever happened to it", async () => {
  const action = fc.record({
    do: fc.constantFrom(
      "checkpoint" as const,
      "residual" as const,
      "replace" as const,
      "complete" as const,
      "release" as const,
    ),
    key: fc.array(fc.constantFrom("b", "c", "d"), { minLength: 1, maxLength: 40 }).map((parts) => parts.join("")),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 12 }), fc.integer({ min: 2, max: 20 }), async (actions, blocks) => {
      const { store, coordinator } = world(blocks * 16);
      for (const run of [1n, 2n].map((id) => RunId.fromRaw(id))) {
        const made = await coordinator.createRunWithShards({
          tenant: TENANT,
          run,
          config,
          shards: [initial(10, "a", "z")],
          opId: op(1),
        });
        if (!made.ok) continue;
        for (const [index, { do: what, key }] of actions.entries()) {
          const claimed = await coordinator.claim({ tenant: TENANT, run, worker: worker(index) });
          if (!claimed.ok) break;
          await using session = claimed.value;
          const before = await stateOf(coordinator, run);
          const { spec, cursor } = session;
          const end = new TextDecoder().decode(spec.keyRangeEnd);
          const start = new TextDecoder().decode(spec.keyRangeStart);
          const point = key > start && key < end && session.cursor.lastKey === undefined ? key : `${start}\0`;
          if (point >= end) break;
          const answer =
            what === "checkpoint"
              ? await session.checkpoint(at(key))
              : what === "complete"
                ? await session.complete(at(key))
                : what === "residual"
                  ? await session.splitResidual(residualPlan(start, point, end))
                  : what === "replace"
                    ? await session.splitReplace(replacePlan({ start, end: point, cursor }, { start: point, end }))
                    : await session.release();
          if (!answer.ok) expect(await stateOf(coordinator, run)).toEqual(before);
        }
        unwrap(await coordinator.cancelRun({ tenant: TENANT, run, opId: op(99) }));
        unwrap(await coordinator.deleteRun({ tenant: TENANT, run }));
        expect([store.slabBytesUsed, store.shardCount]).toEqual([0, 0]);
      }
    }),
    { numRuns: 60 },
  );
});
