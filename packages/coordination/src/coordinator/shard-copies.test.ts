// The clients of a service have no session in its process. Without copies each of their checkpoints reads the shard first,
// which on a remote store doubles its cost; with copies that are trusted too far, a lost lease goes unnoticed.
import { expect, test } from "vitest";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { StoreProbe } from "../testing/store-probe.ts";
import { Coordinator } from "./coordinator.ts";
import { ShardCopies } from "./shard-copies.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const key = { run, shard: ShardId.fromRaw(10n) };
const op = (raw: number) => OpId.fromRaw(BigInt(raw));
const at = (byte: number) => Cursor.withLastKey(Uint8Array.of(byte));

async function world(shardCopies: number) {
  const probe = new StoreProbe(new MemoryStore());
  const clock = new ManualClock(1n);
  const coordinator = new Coordinator({ store: probe, clock, shardCopies });
  const spec = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(200) });
  const shards = [{ shard: key.shard, spec, cursor: Cursor.initial() }];
  unwrap(await coordinator.createRunWithShards({ tenant, run, config: { leaseDuration: 100n }, shards, opId: op(1) }));
  return { probe, clock, coordinator };
}

test("calls that present a lease read nothing once the shard was acquired through the same coordinator", async () => {
  for (const [shardCopies, reads] of [
    [0, 4],
    [1, 0],
  ] as const) {
    const { probe, coordinator } = await world(shardCopies);
    const { lease } = unwrap(await coordinator.acquire({ tenant, key, worker: WorkerId.fromRaw(1n) })).value;
    probe.reset();
    unwrap(await coordinator.checkpoint({ tenant, lease, cursor: at(2), opId: op(2) }));
    unwrap(await coordinator.renew({ tenant, lease }));
    unwrap(await coordinator.checkpoint({ tenant, lease, cursor: at(3), opId: op(3), renew: true }));
    unwrap(await coordinator.complete({ tenant, lease, point: at(4), opId: op(4) }));
    expect(probe.reads).toBe(reads);
  }
});

test("an outdated copy changes no result", async () => {
  const { probe, clock, coordinator } = await world(8);
  const other = new Coordinator({ store: probe, clock });
  const { lease } = unwrap(await coordinator.acquire({ tenant, key, worker: WorkerId.fromRaw(1n) })).value;
  unwrap(await other.release({ tenant, lease, opId: op(2) }));
  const theirs = unwrap(await other.acquire({ tenant, key, worker: WorkerId.fromRaw(2n) })).value;
  expect(await coordinator.checkpoint({ tenant, lease, cursor: at(2), opId: op(3) })).toMatchObject({
    error: { kind: "StaleFence" },
  });
  unwrap(await coordinator.checkpoint({ tenant, lease: theirs.lease, cursor: at(2), opId: op(4) }));
  expect(await coordinator.acquire({ tenant, key, worker: WorkerId.fromRaw(1n) })).toMatchObject({
    error: { kind: "AlreadyLeased" },
  });
});

test("it keeps what was used last, and no more than its capacity", () => {
  const copies = new ShardCopies(4);
  const place = (shard: bigint) => ({ run, shard: ShardId.fromRaw(shard) });
  const [first, second] = [copies.of(tenant, place(1n)), copies.of(tenant, place(2n))];
  const third = copies.of(tenant, place(3n));
  expect(copies.of(tenant, place(1n))).toBe(first);
  copies.of(tenant, place(4n));
  expect(copies.of(tenant, place(1n))).toBe(first);
  expect(copies.of(tenant, place(2n))).not.toBe(second);
  expect(copies.of(tenant, place(3n))).not.toBe(third);
  copies.drop(tenant, place(1n));
  expect(copies.of(tenant, place(1n))).toEqual({ read: undefined });
});

test("copies of different runs and tenants are apart, and runs without copies are forgotten", () => {
  const copies = new ShardCopies(4);
  const place = (id: bigint, shard = 1n) => ({ run: RunId.fromRaw(id), shard: ShardId.fromRaw(shard) });
  const other = TenantId.fromBytes(new Uint8Array(32).fill(2));
  const [first, second, third] = [
    copies.of(tenant, place(1n)),
    copies.of(tenant, place(2n)),
    copies.of(other, place(1n)),
  ];
  expect(new Set([first, second, third]).size).toBe(3);
  expect(copies.of(tenant, place(1n))).toBe(first);
  // The capacity is that of all runs together: the third began a new generation, and `first` was used in it.
  expect(copies.of(other, place(1n))).toBe(third);
  copies.of(tenant, place(3n));
  expect(copies.of(tenant, place(2n))).not.toBe(second);
  for (let id = 10n; id < 1_000n; id++) {
    copies.of(tenant, place(id));
    copies.drop(tenant, place(id));
  }
  expect(copies.runCount).toBeLessThan(10);
});
