// "Lost to another worker" sends people to look for a second process. It must be true.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { beforeEach, expect, test } from "vitest";
import { reportLostShard } from "./lost-shard.ts";

const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const shard = ShardId.fromRaw(1n);
const [own, other] = [WorkerId.fromRaw(1n), WorkerId.fromRaw(2n)];
let clock: ManualClock;
let coordinator: Coordinator;

beforeEach(async () => {
  clock = new ManualClock(1_000_000n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const spec = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(2) });
  const shards = [{ shard, spec, cursor: Cursor.initial() }];
  unwrap(
    await coordinator.createRunWithShards({
      ...request,
      config: { leaseDuration: 1000n },
      shards,
      opId: OpId.random(),
    }),
  );
});

async function acquire(worker: WorkerId): Promise<void> {
  const { tenant, run } = request;
  unwrap(await coordinator.acquire({ tenant, key: { run, shard }, worker, opId: OpId.random() }));
}

async function report(): Promise<string> {
  let said = "";
  await reportLostShard(
    { kind: "LeaseLost", shard, items: 3, cause: "Unconfirmed", isTaken: false },
    { opened: { coordinator, clock }, request, worker: own, view: { say: (text) => void (said = text) } },
  );
  return said;
}

test("a shard that another worker holds was lost to it", async () => {
  await acquire(other);
  expect(await report()).toBe("lost shard 1 to another worker; items that were not stored are done again");
});

test("a shard that no other worker holds was not", async () => {
  const noHolder =
    "the lease of shard 1 ended before it could be renewed; a worker will continue it, and items that were not stored are done again";
  expect(await report()).toBe(noHolder);
  await acquire(own);
  expect(await report()).toBe(noHolder);
  clock.advance(5000n);
  await acquire(other);
  clock.advance(5000n);
  expect(await report()).toBe(noHolder);
});
