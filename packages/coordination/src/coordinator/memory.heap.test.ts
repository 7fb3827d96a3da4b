// A coordinator serves a fleet for weeks. Whatever it keeps for each shard that it has ever seen would end it in time.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId, type InitialShardInput } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { RANGE_EXHAUSTED } from "../hashing/payload-hash.ts";
import { Coordinator } from "./coordinator.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(1));
const WORKER = WorkerId.fromRaw(1n);
const SHARDS_PER_RUN = 500;
const CONFIG = { leaseDuration: 30_000n };

/** The runs are deleted in the end, so the store is as empty as before. */
async function workThrough(coordinator: Coordinator, id: number): Promise<void> {
  const run = RunId.fromRaw(BigInt(id));
  let next = BigInt(id) << 32n;
  const newOpId = (): OpId => OpId.fromRaw(next++);
  const key = (index: number): Uint8Array => Uint8Array.of(1, index >> 8, index & 0xff);
  const shards: InitialShardInput[] = Array.from({ length: SHARDS_PER_RUN }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: key(index), end: key(index + 1) }),
    cursor: Cursor.initial(),
  }));
  unwrap(await coordinator.createRunWithShards({ tenant: TENANT, run, config: CONFIG, shards, opId: newOpId() }));
  for (let count = 0; count < SHARDS_PER_RUN; count += 50) {
    const sessions = unwrap(await coordinator.claimMany({ tenant: TENANT, run, worker: WORKER, count: 50 }));
    for (const session of sessions) {
      unwrap(await session.checkpoint(Cursor.withLastKey(session.spec.keyRangeStart)));
      unwrap(await session.complete(RANGE_EXHAUSTED));
    }
  }
  unwrap(await coordinator.completeRun({ tenant: TENANT, run, opId: newOpId() }));
  unwrap(await coordinator.deleteRun({ tenant: TENANT, run }));
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Heap bytes that stay per shard, after runs with 4,000 shards in total. */
async function keptPerShard(onShard: (id: number) => void): Promise<number> {
  const store = new MemoryStore({ slabCapacity: 1 << 18 });
  const coordinator = new Coordinator({ store, clock: new ManualClock(1n), shardCopies: 100 });
  for (let id = 1; id <= 8; id++) await workThrough(coordinator, id);
  const before = heapBytes();
  for (let id = 9; id <= 16; id++) {
    await workThrough(coordinator, id);
    for (let shard = 0; shard < SHARDS_PER_RUN; shard++) onShard(id * SHARDS_PER_RUN + shard);
  }
  expect(store.shardCount).toBe(0);
  return (heapBytes() - before) / (8 * SHARDS_PER_RUN);
}

/** Less than the smallest record of a shard has. Compiled code and the marks of deleted runs make some tens. */
const KEPT_BYTES = 250;

test("what a coordinator keeps does not depend on how many shards it has served", async () => {
  expect(await keptPerShard(() => undefined)).toBeLessThan(KEPT_BYTES);
});

test("the measurement notices an entry per shard", async () => {
  const kept = new Map<number, readonly number[]>();
  expect(
    await keptPerShard((shard) =>
      kept.set(
        shard,
        Array.from({ length: 50 }, () => shard),
      ),
    ),
  ).toBeGreaterThan(KEPT_BYTES);
  expect(kept.size).toBe(8 * SHARDS_PER_RUN);
});
