// A claim whose answer was lost holds shards that its worker does not know of. Without a repetition that finds them they
// stay idle for a whole lease.
import { expect, test } from "vitest";
import { OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId, Cursor, type InitialShardInput } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";

const RUN = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(1)), run: RunId.fromRaw(1n) };
const worker = WorkerId.fromRaw(7n);
const opId = OpId.fromRaw(42n);

async function world(shardCount: number) {
  const clock = new ManualClock(1n);
  const coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const shards: InitialShardInput[] = Array.from({ length: shardCount }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 100n };
  unwrap(await coordinator.createRunWithShards({ ...RUN, config, shards, opId: OpId.fromRaw(1n) }));
  return { coordinator, clock };
}

const shardsOf = (sessions: readonly { readonly shardKey: { readonly shard: ShardId } }[]) =>
  sessions.map(({ shardKey }) => shardKey.shard).sort((a, b) => (a < b ? -1 : 1));

test("a repeated claim returns the leases of the first", async () => {
  const { coordinator } = await world(6);
  const first = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 3 }));
  const again = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 3, isRepeat: true }));
  expect(shardsOf(again)).toEqual(shardsOf(first));
  expect(again.every(({ isReplay }) => isReplay)).toBe(true);
  expect(again.map(({ lease }) => lease.fence)).toEqual(again.map(() => 2n));
});

test("a repetition of a claim that was never made claims", async () => {
  const { coordinator } = await world(2);
  const claimed = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 1, isRepeat: true }));
  expect(claimed.map(({ isReplay }) => isReplay)).toEqual([false]);
});

test("it finds neither another worker's shards, nor another claim's, nor those that were given back or lapsed", async () => {
  const { coordinator, clock } = await world(4);
  const theirs = unwrap(await coordinator.claimMany({ ...RUN, worker: WorkerId.fromRaw(8n), opId, count: 1 }));
  const other = unwrap(await coordinator.claimMany({ ...RUN, worker, opId: OpId.fromRaw(43n), count: 1 }));
  const [released] = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 1 }));
  unwrap(await released!.release());
  const claimed = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 1, isRepeat: true }));
  expect(claimed[0]!.isReplay).toBe(false);
  expect([...shardsOf(theirs), ...shardsOf(other)]).not.toContain(claimed[0]!.shardKey.shard);

  clock.set(500n);
  const later = unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 1, isRepeat: true }));
  expect(later[0]!.isReplay).toBe(false);
});

test("an ended run still returns the leases of the first claim", async () => {
  const { coordinator } = await world(2);
  unwrap(await coordinator.claimMany({ ...RUN, worker, opId, count: 1 }));
  unwrap(await coordinator.cancelRun({ ...RUN, opId: OpId.fromRaw(9n) }));
  expect(await coordinator.claimMany({ ...RUN, worker, opId, count: 1, isRepeat: true })).toMatchObject({ ok: true });
  expect(await coordinator.claimMany({ ...RUN, worker, opId, count: 1 })).toMatchObject({
    error: { kind: "RunTerminal" },
  });
});
