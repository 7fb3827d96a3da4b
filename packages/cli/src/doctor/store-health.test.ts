// A store is looked at when something is wrong with it. Reading a million shards then makes it worse.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { checkStore } from "./store-health.ts";

const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);

class CountingStore extends MemoryStore {
  lists = 0;

  override listShards(...args: Parameters<MemoryStore["listShards"]>): ReturnType<MemoryStore["listShards"]> {
    this.lists++;
    return super.listShards(...args);
  }
}

test("parked shards are counted without reading the shards of a run", async () => {
  const store = new CountingStore();
  const clock = systemClock(Date.now);
  const coordinator = new Coordinator({ store, clock });
  const shards = [1, 2, 3].map((index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 60_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
  for (const { shard } of shards.slice(1)) {
    const key = { run, shard };
    unwrap(await unwrap(await coordinator.openSession({ tenant, key, worker: WorkerId.fromRaw(1n) })).park("Poisoned"));
  }
  const opened = { coordinator, clock, description: "memory", direct: undefined } as unknown as OpenedStore;
  const checks = await checkStore(opened, tenant, false);
  expect(checks.map(({ words }) => words)).toEqual([
    "memory is open, with 1 run",
    "2 shards are parked: `gossip runs` shows in which runs",
    "the service gives the time",
  ]);
  expect(store.lists).toBe(0);
});
