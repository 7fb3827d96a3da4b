// Stores without an inspection of their own are checked through what they answer. A walk that loses a page would call a
// store sound that it has not seen, and one that hides a failing read would do the same.

import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore, type ListShardsQuery, type ShardRecord } from "@gossip/coordination";
import { FaultInjectingStore, ManualClock } from "@gossip/coordination/testing";
import { ok, unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { fsck, repair } from "./fsck.ts";
import { inspectThroughPort } from "./inspect-through-port.ts";
import { raiseFamily } from "./testing/index.ts";

test("everything in the store is seen, over as many pages as it takes", async () => {
  const store = new MemoryStore({ slabCapacity: 1 << 20 });
  const family = await raiseFamily(store);
  const coordinator = new Coordinator({ store, clock: new ManualClock(1n) });
  for (let run = 0n; run < 501n; run++) {
    unwrap(
      await coordinator.createRun({ tenant: TenantId.ZERO, run: RunId.fromRaw(run), config: { leaseDuration: 10n } }),
    );
  }
  const report = unwrap(await fsck(inspectThroughPort(store)));
  expect(report).toEqual({
    tenantCount: 2,
    runCount: 502,
    shardCount: family.length,
    deletedRunCount: 0,
    findings: [],
    findingCount: 0,
  });
  expect(unwrap(await repair(inspectThroughPort(store)))).toEqual({
    removedEntries: 0,
    addedEntries: 0,
    correctedCounts: 0,
  });
});

test("what contradicts is found", async () => {
  const store = new MemoryStore({ slabCapacity: 1 << 20 });
  const family = await raiseFamily(store);
  const lost = family.find(({ parent }) => parent !== undefined)!;
  const honest = (query: ListShardsQuery) => MemoryStore.prototype.listShards.call(store, query);
  store.listShards = (query) => {
    const page = unwrap(honest(query));
    return ok({ ...page, items: page.items.filter(({ shard }: ShardRecord) => shard !== lost.shard) });
  };
  expect(unwrap(await fsck(inspectThroughPort(store))).findings).toContainEqual(
    expect.objectContaining({
      kind: "Lineage",
      shard: lost.parent,
      detail: "a shard that it has spawned is not there",
    }),
  );
});

test.each(["listTenants", "listRuns", "listShards"] as const)("a %s that fails is the answer", async (failing) => {
  const inner = new MemoryStore({ slabCapacity: 1 << 20 });
  await raiseFamily(inner);
  const store = new FaultInjectingStore(inner, { onRead: (read) => (read === failing ? "Failed" : undefined) });
  expect(await fsck(inspectThroughPort(store))).toMatchObject({ ok: false, error: { kind: "Transient" } });
});

test("what is no store is refused", () => {
  expect(() => inspectThroughPort({} as never)).toThrow("CoordinationStore");
});
