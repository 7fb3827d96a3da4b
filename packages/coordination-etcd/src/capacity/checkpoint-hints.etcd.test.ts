// A checkpoint that changes no capacity returns the cached one. The store must notice everything that invalidates it:
// its own writes of every kind, other processes' writes within milliseconds, and times at which a lease has expired.
// All other writes return the capacity after the write.

import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type CapacityHint,
  type ShardRecord,
  type UpdateShardSet,
} from "@gossip/coordination";
import { repair } from "@gossip/coordination-fsck";
import { EtcdClient } from "@gossip/etcd-client";
import { assert, unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import { EtcdStore } from "../etcd-store.ts";
import { Layout } from "../layout/layout.ts";
import { makeStore, startTestEtcd, type TestServer } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(5));
const HELD_UNTIL = 1000n;
const NOW = 10n;
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const limits = { maxShardsPerTenant: 1000, maxShardsTotal: 1000 };
const at = (time: bigint): LogicalTime => LogicalTime.fromRaw(time);
const leaseUntil = (deadline: bigint) => ({
  owner: WorkerId.fromRaw(1n),
  deadline: at(deadline),
  opId: OpId.fromRaw(1n),
});

let server: TestServer;
let client: EtcdClient;
let layout: Layout;
/** The one whose hints are looked at. Its clock stands still unless a test moves it. */
let ours: EtcdStore;
let nowMs = 0;
/** Another process. */
let others: EtcdStore;
let lastRun = 0n;
let run: RunId;
let lastKey = 0;

beforeAll(async () => {
  if (skipped !== undefined) return;
  server = await startTestEtcd();
  const made = await makeStore(server);
  others = made.store;
  client = new EtcdClient({ endpoints: [server.endpoint] });
  layout = new Layout(`${made.prefix}/`);
  ours = new EtcdStore(new Cluster(client, { layout, maxTxnOps: 128 }), () => nowMs);
});
afterAll(async () => {
  await ours?.close();
  await others?.close();
  await server?.dispose();
});

/** Four shards of which the first two are held. */
beforeEach(async () => {
  if (skipped === undefined) run = await register(RunId.fromRaw(++lastRun));
});

async function register(id: RunId): Promise<RunId> {
  const created = Array.from({ length: 4 }, (_, index): ShardRecord => {
    const spec = ShardSpec.withRange({ start: Uint8Array.of(index), end: Uint8Array.of(index + 1) });
    const record = newShardRecord({
      tenant: TENANT,
      key: { run: id, shard: ShardId.fromRaw(BigInt(index)) },
      spec,
      cursor: Cursor.initial(),
      cursorSemantics: "Completed",
      parent: undefined,
      now: at(1n),
    });
    return index < 2 ? { ...record, lease: leaseUntil(HELD_UNTIL + BigInt(index)) } : record;
  });
  const after = {
    ...newRunRecord({ tenant: TENANT, run: id, config, now: at(1n) }),
    status: "Active",
    rootShards: created.map(({ shard }) => shard),
  } as const;
  const [answer] = await others.commit([
    { kind: "PutRun", tenant: TENANT, run: id, guard: undefined, after, created, limits, noShardsIn: [] },
  ]);
  expect(answer).toMatchObject({ kind: "Committed" });
  return id;
}

/** An update of a shard as it is now. */
async function updateOf(
  shard: number,
  change: (record: ShardRecord) => Partial<ShardRecord>,
  now = NOW,
  of = run,
): Promise<UpdateShardSet> {
  const read = unwrap(await others.readShard(TENANT, { run: of, shard: ShardId.fromRaw(BigInt(shard)) })).shard!;
  const write = { guard: read.version, before: read.record, after: { ...read.record, ...change(read.record) } };
  return { kind: "UpdateShard", tenant: TENANT, run: of, shard: write, runGuard: undefined, hintAt: at(now) };
}

async function commit(store: EtcdStore, ...sets: readonly UpdateShardSet[]): Promise<CapacityHint[]> {
  const answers = await store.commit(sets);
  return answers.map((answer) => {
    assert(answer.kind === "Committed", "no other process writes these");
    return answer.hint!;
  });
}

const moved = (record: ShardRecord): Partial<ShardRecord> => ({
  cursor: Cursor.withLastKey(Uint8Array.of(record.spec.keyRangeStart[0] ?? 0, ++lastKey)),
});

async function checkpoint({ now = NOW, shard = 0 } = {}): Promise<CapacityHint> {
  const [hint] = await commit(ours, await updateOf(shard, moved, now));
  return hint!;
}

async function exact(now = NOW): Promise<CapacityHint> {
  return unwrap(await others.readHint({ tenant: TENANT, run, now: at(now) }));
}

const take = async (store: EtcdStore, shard: number): Promise<CapacityHint> =>
  (await commit(store, await updateOf(shard, () => ({ lease: leaseUntil(500n) }))))[0]!;

describe.skipIf(skipped !== undefined)("the hint of a checkpoint", () => {
  test("is known for five milliseconds, whatever others do, and no longer", async () => {
    const before = await exact();
    expect(before).toEqual({ availableCount: 2, earliestDeadline: HELD_UNTIL, isStarved: false });
    expect(await checkpoint()).toEqual(before);
    await take(others, 2);
    unwrap(await others.markStarved(TENANT, run, at(50n)));
    nowMs += 5;
    expect(await checkpoint()).toEqual(before);
    nowMs += 0.1;
    expect(await checkpoint()).toEqual({ availableCount: 1, earliestDeadline: 500n, isStarved: true });
    // The mark goes with the time, not with what was known when it was read.
    expect((await checkpoint({ now: 49n })).isStarved).toBe(true);
    expect((await checkpoint({ now: 50n })).isStarved).toBe(false);
  });

  test("is current once the first lease has expired, or for an earlier time", async () => {
    await checkpoint({ now: 500n });
    for (const now of [HELD_UNTIL - 1n, HELD_UNTIL, HELD_UNTIL + 1n, 400n, NOW])
      expect(await checkpoint({ now })).toEqual(await exact(now));
  });

  test("includes everything that this store has written or marked", async () => {
    const split = async (): Promise<unknown> => {
      const { shard, run: head } = unwrap(await ours.readShard(TENANT, { run, shard: ShardId.fromRaw(1n) }));
      const spec = ShardSpec.withRange({ start: Uint8Array.of(1, 128), end: Uint8Array.of(2) });
      const child = newShardRecord({
        tenant: TENANT,
        key: { run, shard: ShardId.fromRaw(99n) },
        spec,
        cursor: Cursor.initial(),
        cursorSemantics: "Completed",
        parent: undefined,
        now: at(1n),
      });
      const write = { guard: shard!.version, before: shard!.record, after: { ...shard!.record, lastTime: at(2n) } };
      return ours.commit([
        { kind: "SplitShard", tenant: TENANT, run, shard: write, runGuard: head!.version, created: [child], limits },
      ]);
    };
    const writes = [
      () => take(ours, 2),
      async () => commit(ours, await updateOf(2, () => ({ lease: undefined }))),
      async () => commit(ours, await updateOf(3, () => ({ status: "Done" }))),
      // This update requests no hint, and changes the capacity all the same.
      async () => ours.commit([{ ...(await updateOf(2, () => ({ status: "Done" }))), hintAt: undefined }]),
      async () => commit(ours, await updateOf(1, () => ({ lease: leaseUntil(700n) }))),
      async () => ours.markStarved(TENANT, run, at(NOW + 5n)),
      split,
    ];
    let last = await checkpoint();
    for (const write of writes) {
      await write();
      const told = await checkpoint();
      expect(told).toEqual(await exact());
      expect(told).not.toEqual(last);
      last = told;
    }
  });

  test("is current after a repair of the indexes", async () => {
    const { found: head } = unwrap(await client.get(layout.head({ tenant: TENANT, run })));
    const free = layout.kind(head!.value.toString(), "f");
    expect(unwrap(await client.delete(free.get, free.end))).toBe(2);
    expect((await checkpoint()).availableCount).toBe(0);
    unwrap(await repair(ours.inspect()));
    expect((await checkpoint()).availableCount).toBe(2);
  });

  test("is the same for a whole batch, and current if one of the batch changes it", async () => {
    const before = await exact();
    expect(await commit(ours, await updateOf(0, moved), await updateOf(1, moved, NOW + 1n))).toEqual([before, before]);
    await take(others, 2);
    expect(await commit(ours, await updateOf(1, moved), await updateOf(0, moved))).toEqual([before, before]);
    const after = { ...before, availableCount: 0, earliestDeadline: 500n };
    expect(
      await commit(
        ours,
        await updateOf(1, moved),
        await updateOf(3, () => ({ lease: leaseUntil(600n) })),
        await updateOf(0, moved),
      ),
    ).toEqual([after, after, after]);
  });

  test("is kept by run", async () => {
    const first = run;
    const second = await register(RunId.fromRaw(++lastRun));
    const both = async () => commit(ours, await updateOf(0, moved, NOW, first), await updateOf(0, moved, NOW, second));
    await both();
    // Of one run the capacity is known and of the other it is asked for, in one transaction.
    await take(others, 2);
    await commit(ours, await updateOf(2, () => ({ lease: leaseUntil(600n) }), NOW, second));
    expect((await both()).map(({ availableCount, earliestDeadline }) => [availableCount, earliestDeadline])).toEqual([
      [2, HELD_UNTIL],
      [1, 600n],
    ]);
  });
});

describe.skipIf(skipped !== undefined)("the hint of other writes", () => {
  const changes: Record<string, (record: ShardRecord) => Partial<ShardRecord>> = {
    "a claim": () => ({ lease: leaseUntil(800n) }),
    "a renewal": () => ({ lease: leaseUntil(800n) }),
    "a renewal that moves nothing": ({ lease }) => ({ lease: { ...lease! } }),
    "a checkpoint that renews": (record) => ({ ...moved(record), lease: leaseUntil(800n) }),
    "an update that stores no cursor": () => ({ attempts: 1 }),
    "a checkpoint of a shard without a lease": moved,
  };
  test.each(Object.entries(changes))("%s: what is so after it", async (name, change) => {
    await checkpoint();
    await take(others, 2);
    const [told] = await commit(ours, await updateOf(/claim|without a lease/u.test(name) ? 3 : 0, change));
    expect(told).toEqual(await exact());
    expect(told!.earliestDeadline).toBe(500n);
  });
});
