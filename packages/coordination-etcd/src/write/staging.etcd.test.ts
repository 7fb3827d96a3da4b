// Ten thousand shards do not fit into a transaction, so they are staged before they become visible. An abandoned
// attempt must have no effect on later ones, and its keys must be deleted in the end.

import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type CommitAnswer,
  type PutRunSet,
  type UpdateShardSet,
} from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { EtcdClient, prefixEnd } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import { etcdSkipped, startEtcd } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import { encodeNewShards } from "../layout/encoded-shards.ts";
import type { EtcdStore } from "../etcd-store.ts";
import { Layout } from "../layout/layout.ts";
import { openEtcdStore } from "../open/open-etcd-store.ts";
import { stagePage, takePage } from "./staged-page.ts";
import { newSpace, stage } from "./staging.ts";
import { GIVE_UP_AFTER_MS, Sweeper } from "./sweep.ts";
import { makeStore, startTestEtcd, type TestServer } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(8));
const RUN = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;

let server: TestServer;
let client: EtcdClient;
beforeAll(async () => {
  if (skipped !== undefined) return;
  server = await startTestEtcd();
  client = new EtcdClient({ endpoints: [server.endpoint] });
});
afterAll(async () => {
  client?.close();
  await server?.dispose();
});

function putRun(shardCount: number, { metadataSize = 0, maxShards = 100_000, run = RUN } = {}): PutRunSet {
  const key = (index: number): Uint8Array => Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255);
  const created = Array.from({ length: shardCount }, (_, index) => {
    const spec = ShardSpec.withRangeAndMetadata({
      start: key(index),
      end: key(index + 1),
      metadata: new Uint8Array(metadataSize),
    });
    return newShardRecord({
      tenant: TENANT,
      key: { run, shard: ShardId.fromRaw(BigInt(index)) },
      spec,
      cursor: Cursor.initial(),
      cursorSemantics: "Completed",
      parent: undefined,
      now,
    });
  });
  const after = {
    ...newRunRecord({ tenant: TENANT, run, config, now }),
    status: "Active",
    rootShards: created.map(({ shard }) => shard),
  } as const;
  return {
    kind: "PutRun",
    tenant: TENANT,
    run,
    guard: undefined,
    after,
    created,
    limits: { maxShardsPerTenant: maxShards, maxShardsTotal: maxShards },
    noShardsIn: [],
  };
}

const commit = async (store: EtcdStore, set: PutRunSet): Promise<CommitAnswer> => (await store.commit([set]))[0]!;

/** Update so many shards in one call. */
async function updateAtOnce(store: EtcdStore, count: number): Promise<string[]> {
  const sets = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<UpdateShardSet> => {
      const { shard } = unwrap(await store.readShard(TENANT, { run: RUN, shard: ShardId.fromRaw(BigInt(index)) }));
      const { record, version } = shard!;
      return {
        kind: "UpdateShard",
        tenant: TENANT,
        run: RUN,
        shard: { guard: version, before: record, after: { ...record, attempts: 1 } },
        runGuard: undefined,
        hintAt: index % 2 === 0 ? now : undefined,
      };
    }),
  );
  return (await store.commit(sets)).map(({ kind }) => kind);
}

const total = async (store: EtcdStore, run = RUN) =>
  unwrap(await store.readProgress({ tenant: TENANT, run, now })).total;
const keysBelow = async (prefix: string, of = client): Promise<number> =>
  unwrap(await of.range({ get: prefix, end: prefixEnd(prefix), countOnly: true })).count;

describe.skipIf(skipped !== undefined)("many shards", () => {
  test.each([
    // The conformance kit registers ten thousand, too.
    { title: "as servers are", args: [], shardCount: effort({ usual: 2_000, exploring: 10_000 }), metadataSize: 0 },
    { title: "few operations in a transaction", args: ["--max-txn-ops=8"], shardCount: 400, metadataSize: 0 },
    { title: "small requests", args: ["--max-request-bytes=60000"], shardCount: 600, metadataSize: 1000 },
    { title: "large shards", args: [], shardCount: 300, metadataSize: 16_000 },
  ])("are registered, whatever the limits of the server: $title", async ({ args, shardCount, metadataSize }) => {
    const own = await startEtcd(args);
    onTestFinished(() => own.dispose());
    await using store = unwrap(await openEtcdStore({ endpoints: [own.endpoint] }));
    expect((await commit(store, putRun(shardCount, { metadataSize }))).kind).toBe("Committed");
    expect(await total(store)).toBe(shardCount);
    expect(await updateAtOnce(store, 100)).toEqual(Array.from({ length: 100 }, () => "Committed"));
    const report = unwrap(await fsck(store.inspect()));
    expect(report).toMatchObject({ shardCount, findings: [] });
    const other = new EtcdClient({ endpoints: [own.endpoint] });
    expect(await keysBelow("gossip/staged/", other)).toBe(0);
    other.close();
  });

  test("of two registrations of one run at once, one succeeds and the other leaves nothing", async () => {
    const temporary = await makeStore(server);
    await using store = temporary.store;
    await using second = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix: temporary.prefix }));
    const answers = await Promise.all([
      commit(store, putRun(300)),
      commit(second, putRun(300)),
      commit(store, putRun(300)),
    ]);
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["Committed", "Conflict", "Conflict"]);
    await Promise.all([store.swept(), second.swept()]);
    expect([await keysBelow(`${temporary.prefix}/staged/`), await keysBelow(`${temporary.prefix}/unswept/`)]).toEqual([
      0, 0,
    ]);
    // Three for each shard, and the census.
    expect(await keysBelow(`${temporary.prefix}/s/`)).toBe(901);
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ shardCount: 300, findings: [] });
  });

  test("that would exceed a quota are refused before any is written", async () => {
    const temporary = await makeStore(server);
    await using store = temporary.store;
    expect(await commit(store, putRun(300, { maxShards: 299 }))).toEqual({
      kind: "LimitExceeded",
      scope: "PerTenant",
      current: 0,
      additional: 300,
      max: 299,
    });
    expect(await keysBelow(`${temporary.prefix}/s/`)).toBe(0);
  });
});

describe.skipIf(skipped !== undefined)("a registration that broke off", () => {
  test("is invisible, counts for nothing, and is given up after a while", async () => {
    const temporary = await makeStore(server);
    await using store = temporary.store;
    const layout = new Layout(`${temporary.prefix}/`);
    const cluster = new Cluster(client, { layout, maxTxnOps: 128 });
    const set = putRun(300);
    const space = newSpace();
    expect(await stage(cluster, set, { space, shards: encodeNewShards(set.created) })).toBe(true);

    expect(unwrap(await store.readRun(TENANT, RUN))).toEqual({ kind: "Missing" });
    expect(unwrap(await store.listTenants({ after: undefined, limit: 10 })).items).toEqual([]);
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ runCount: 0, shardCount: 0, findings: [] });
    expect((await commit(store, putRun(300))).kind).toBe("Committed");
    expect(await total(store)).toBe(300);

    let nowMs = 0;
    const sweeper = new Sweeper(cluster, () => nowMs);
    for (const [ms, left] of [
      [0, 900],
      [GIVE_UP_AFTER_MS - 1, 900],
      [GIVE_UP_AFTER_MS, 0],
    ] as const) {
      nowMs = ms;
      sweeper.start();
      await sweeper.idle;
      expect(await keysBelow(layout.space(space).get)).toBe(left);
    }
    await sweeper.stop();
    expect([
      await keysBelow(`${temporary.prefix}/staged/`),
      await keysBelow(`${temporary.prefix}/unswept/`),
      await total(store),
    ]).toEqual([0, 0, 300]);

    // A registration that is given up too early fails, and its keys are swept.
    expect(
      await stage(new Cluster(cutAfterMarker(client, layout.staged("")), cluster), set, {
        space: newSpace(),
        shards: encodeNewShards(set.created),
      }),
    ).toBe(false);
  });
});

describe.skipIf(skipped !== undefined)("a further page that broke off", () => {
  const page = (guard: CommitAnswer, { from, count }: { from: number; count: number }): PutRunSet => {
    const all = putRun(from + count);
    const { config: own, tenant, run } = all.after;
    const after = newRunRecord({ tenant, run, config: own, now });
    const version = guard.kind === "Committed" ? guard.version : undefined;
    return { ...all, guard: version, after, created: all.created.slice(from) };
  };
  const NOTHING = { kind: "Conflict" } as const;

  test("counts for nothing, and the next attempt removes what it left, also shards of another plan", async () => {
    const temporary = await makeStore(server);
    await using store = temporary.store;
    const layout = new Layout(`${temporary.prefix}/`);
    const cluster = new Cluster(client, { layout, maxTxnOps: 128 });
    const first = await commit(store, page(NOTHING, { from: 0, count: 300 }));
    expect(first.kind).toBe("Committed");
    const space = unwrap(await client.get(layout.head({ tenant: TENANT, run: RUN }))).found!.value.toString();
    const left = page(first, { from: 350, count: 400 });
    const revision = await takePage(cluster, space, { seen: 0n, written: 0n });
    expect(await stagePage(cluster, revision!, { space, shards: encodeNewShards(left.created) })).toBe(true);

    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ shardCount: 300, findings: [] });
    const second = await commit(store, page(first, { from: 300, count: 300 }));
    expect(second.kind).toBe("Committed");
    // The attempt that lost its marker can write nothing any more.
    expect(await stagePage(cluster, revision!, { space, shards: encodeNewShards(left.created) })).toBe(false);
    const last = page(second, { from: 600, count: 2 });
    const active = { ...last.after, status: "Active", rootShards: [ShardId.fromRaw(600n)] } as const;
    expect((await commit(store, { ...last, after: active })).kind).toBe("Committed");
    expect(await total(store)).toBe(602);
    // Three for each shard, and the census.
    expect(await keysBelow(layout.space(space).get)).toBe(3 * 602 + 1);
  });
});

describe.skipIf(skipped !== undefined)("a removed run", () => {
  test("is gone at once, with its number, and its keys soon after", async () => {
    const temporary = await makeStore(server);
    await using store = temporary.store;
    const { version } = (await commit(store, putRun(1000))) as { readonly version: string };
    const set = { kind: "RemoveRun", tenant: TENANT, run: RUN, guard: version } as const;
    expect((await store.commit([set]))[0]!.kind).toBe("Committed");
    expect(unwrap(await store.readRun(TENANT, RUN)).kind).toBe("Deleted");
    await store.swept();
    expect(await keysBelow(`${temporary.prefix}/s/`)).toBe(0);
    expect(await keysBelow(`${temporary.prefix}/unswept/`)).toBe(0);
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ shardCount: 0, deletedRunCount: 1, findings: [] });
    expect((await commit(store, putRun(3))).kind).toBe("Conflict");
    expect((await commit(store, putRun(3, { run: RunId.fromRaw(2n), maxShards: 3 }))).kind).toBe("Committed");
  });

  test("that a killed process did not finish sweeping is swept when the store is opened next", async () => {
    const temporary = await makeStore(server);
    const layout = new Layout(`${temporary.prefix}/`);
    await commit(temporary.store, putRun(300));
    await temporary.store.close();
    const space = unwrap(await client.get(layout.head({ tenant: TENANT, run: RUN }))).found!.value.toString();
    unwrap(await client.put({ put: layout.unswept(space), value: "" }));
    unwrap(await client.delete(layout.head({ tenant: TENANT, run: RUN })));
    await using store = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix: temporary.prefix }));
    await store.swept();
    expect(await keysBelow(`${temporary.prefix}/s/`)).toBe(0);
  });
});

/** A client by which a registration's key is gone as soon as it is there. */
function cutAfterMarker(real: EtcdClient, family: string): EtcdClient {
  return Object.assign(Object.create(real) as EtcdClient, {
    txn: async (txn: Parameters<EtcdClient["txn"]>[0]) => {
      const done = await real.txn(txn);
      if (txn.success.some((operation) => "put" in operation && operation.put.startsWith(family)))
        unwrap(await real.delete(family, prefixEnd(family)));
      return done;
    },
  });
}
