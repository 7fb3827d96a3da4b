// Claims and hints look at a part of the indexes, as wide as the last one that held enough. Their results must not
// depend on that: with few shards left in a window, or only expired leases, they must widen it and return what reading
// everything would.

import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  MAX_CLAIM_COUNT,
  newRunRecord,
  newShardRecord,
  type CommitAnswer,
  type ShardRecord,
  type UpdateShardSet,
  type Versioned,
} from "@gossip/coordination";
import { EtcdClient } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EtcdStore } from "../etcd-store.ts";
import { Layout, ShardKind, shardOf } from "../layout/layout.ts";
import { readShardAt } from "../read/run-heads.ts";
import { makeStore, startTestEtcd, type TestServer } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(8));
const RUN = RunId.fromRaw(1n);
const address = { tenant: TENANT, run: RUN };
/** More free shards than a window may hold, and more leases than one may hold. */
const COUNT = 5_000;
const ONE_IN_HELD = 10;
const FREE_COUNT = COUNT - COUNT / ONE_IN_HELD;
const FIRST_DEADLINE = 100_000n;
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const at = (time: bigint): LogicalTime => LogicalTime.fromRaw(time);

let server: TestServer;
let store: EtcdStore;
let prefix: string;
/** One in ten is held, each a second longer than the one before. */
const shards: ShardRecord[] = Array.from({ length: COUNT }, (_, index) => {
  const key = (index: number): Uint8Array => Uint8Array.of(index >> 8, index & 255);
  const spec = ShardSpec.withRange({ start: key(index), end: key(index + 1) });
  const record = newShardRecord({
    tenant: TENANT,
    key: { run: RUN, shard: ShardId.fromRaw(BigInt(index)) },
    spec,
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now: at(1n),
  });
  if (index % ONE_IN_HELD > 0) return record;
  return {
    ...record,
    lease: {
      owner: WorkerId.fromRaw(1n),
      deadline: at(FIRST_DEADLINE + BigInt(index) * 1000n),
      opId: OpId.fromRaw(1n),
    },
  };
});

beforeAll(async () => {
  if (skipped !== undefined) return;
  server = await startTestEtcd();
  ({ store, prefix } = await makeStore(server));
  const after = {
    ...newRunRecord({ tenant: TENANT, run: RUN, config, now: at(1n) }),
    status: "Active",
    rootShards: [ShardId.fromRaw(0n)],
  } as const;
  const limits = { maxShardsPerTenant: COUNT, maxShardsTotal: COUNT };
  const [answer] = await store.commit([
    { kind: "PutRun", tenant: TENANT, run: RUN, guard: undefined, after, created: shards, limits, noShardsIn: [] },
  ]);
  expect(answer).toMatchObject({ kind: "Committed" });
});
afterAll(async () => {
  await store?.close();
  await server?.dispose();
});

function expectedAt(now: bigint) {
  const active = shards.filter(({ status }) => status === "Active");
  const claimable = active.filter(({ lease }) => lease === undefined || lease.deadline <= now);
  const deadlines = active.flatMap(({ lease }) =>
    lease !== undefined && lease.deadline > now ? [lease.deadline] : [],
  );
  const earliest = deadlines.reduce<bigint | undefined>(
    (least, deadline) => (least === undefined || deadline < least ? deadline : least),
    undefined,
  );
  return { claimable: claimable.map(({ shard }) => shard), earliest };
}

async function expectRight(now: bigint): Promise<void> {
  const { claimable, earliest } = expectedAt(now);
  const moment = { tenant: TENANT, run: RUN, now: at(now) };
  const hint = unwrap(await store.readHint(moment));
  expect(hint.earliestDeadline).toBe(earliest);
  expect(hint.availableCount).toBe(Math.min(claimable.length, MAX_CLAIM_COUNT));
  for (const [limit, spread] of [
    [8, 0],
    [8, 0xffff_fff0],
    [50, 0x7777_7777],
    [COUNT, 0x1234_5678],
  ] as const) {
    const listing = unwrap(await store.listClaimCandidates({ ...moment, limit, spread }));
    // A full listing may leave out the leases. The first one reads them, because nothing is known of the run.
    const isFull = listing.candidates.length === limit;
    if (!isFull || listing.earliestDeadline !== undefined) expect(listing.earliestDeadline).toBe(earliest);
    const found = new Set(listing.candidates.map(({ shard }) => shard));
    expect(found.size).toBe(Math.min(limit, claimable.length));
    const allowed = new Set(claimable);
    expect([...found].every((shard) => allowed.has(shard))).toBe(true);
  }
}

/** Finishes most of the free shards, so that windows narrowed for thousands hold almost nothing. */
async function finishAllBut(kept: number): Promise<CommitAnswer[]> {
  const free = shards.filter(({ status, lease }) => status === "Active" && lease === undefined).slice(kept);
  const stored = await readAll();
  const made: CommitAnswer[] = [];
  for (let from = 0; from < free.length; from += 500) {
    const sets = free.slice(from, from + 500).map(({ shard }): UpdateShardSet => {
      const { record: before, version: guard } = stored.get(shard)!;
      const after: ShardRecord = { ...before, status: "Done" };
      shards[Number(shard)] = after;
      return {
        kind: "UpdateShard",
        tenant: TENANT,
        run: RUN,
        shard: { guard, before, after },
        runGuard: undefined,
        hintAt: at(2n),
      };
    });
    const answers = await store.commit(sets);
    expect(answers.every(({ kind }) => kind === "Committed")).toBe(true);
    made.push(...answers);
  }
  return made;
}

/** Every shard with its version, in one request. */
async function readAll(): Promise<Map<ShardId, Versioned<ShardRecord>>> {
  const client = new EtcdClient({ endpoints: [server.endpoint] });
  const layout = new Layout(`${prefix}/`);
  const space = unwrap(await client.get(layout.head(address))).found!.value.toString();
  const { kvs } = unwrap(await client.range(layout.kind(space, ShardKind.Record)));
  client.close();
  return new Map(kvs.map((kv) => [shardOf(kv.key), readShardAt(address, space, kv)]));
}

describe.skipIf(skipped !== undefined)("with thousands of shards", () => {
  test("leases are not read for claims and writes while there are more free shards than a claim takes", async () => {
    const moment = { tenant: TENANT, run: RUN, now: at(1n) };
    unwrap(await store.readHint(moment));
    const listing = unwrap(await store.listClaimCandidates({ ...moment, limit: 8, spread: 0 }));
    expect(listing).toMatchObject({ candidates: { length: 8 }, earliestDeadline: undefined });
    const [answer] = await finishAllBut(FREE_COUNT - 1);
    expect(answer).toMatchObject({ hint: { availableCount: MAX_CLAIM_COUNT, earliestDeadline: undefined } });
    // A caller that asks gets it.
    expect(unwrap(await store.readHint(moment)).earliestDeadline).toBe(FIRST_DEADLINE);
  });

  test("claims and hints are right, however wide they look and whatever was there before", async () => {
    for (const now of [1n, 1n, FIRST_DEADLINE, FIRST_DEADLINE + 5000n, FIRST_DEADLINE + 3_000_000n, 1n])
      await expectRight(now);
    await finishAllBut(700);
    for (const now of [1n, FIRST_DEADLINE + 200_000n, 1n]) await expectRight(now);
    await finishAllBut(3);
    for (const now of [1n, FIRST_DEADLINE + BigInt(COUNT) * 1000n, FIRST_DEADLINE + BigInt(COUNT - 10) * 1000n, 1n])
      await expectRight(now);
  });
});
