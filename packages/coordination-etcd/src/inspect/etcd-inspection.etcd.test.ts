// Each test damages keys as a faulty program would, and the check must find the damage. Repair must then restore exactly
// what the records imply: an index rebuilt from a wrong idea of it is worse than a damaged one.

import { OpId, planSplitReplaceAtPoints, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { fsck, repair, RunCensus, type FsckFinding } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT } from "@gossip/coordination-fsck/testing";
import { ManualClock } from "@gossip/coordination/testing";
import { EtcdClient, type KeyValue, type Txn } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import { EtcdInspection } from "./etcd-inspection.ts";
import { keysBelow, makeFamilyKeys, putKeys, type RelativeKeys } from "./family-keys.fixture.ts";
import { KnownCapacities } from "../capacity/known-capacities.ts";
import { Layout, pathOf, ShardKind, shardOf, type RunAddress, type Space } from "../layout/layout.ts";
import { makeStore, startTestEtcd, type TemporaryStore, type TestServer } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const address: RunAddress = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const elsewhere: RunAddress = { tenant: TenantId.ZERO, run: RunId.fromRaw(99n) };
const ROOT = ShardId.fromRaw(0n);

let server: TestServer;
let client: EtcdClient;
let temporary: TemporaryStore;
let layout: Layout;
let space: Space;

/** What every test starts from. */
let family: RelativeKeys;

beforeAll(async () => {
  if (skipped !== undefined) return;
  server = await startTestEtcd();
  client = new EtcdClient({ endpoints: [server.endpoint] });
  family = await makeFamilyKeys(server, client);
});
afterAll(async () => {
  client?.close();
  await server?.dispose();
});

const read = async (key: string): Promise<KeyValue> => unwrap(await client.get(key)).found!;
const put = async (key: string, value: string | Uint8Array = ""): Promise<void> =>
  void unwrap(await client.put({ put: key, value }));
const remove = async (key: string): Promise<void> => void unwrap(await client.delete(key));
const firstOf = async (kind: ShardKind): Promise<string> =>
  unwrap(await client.range({ ...layout.kind(space, kind), limit: 1 })).kvs[0]!.key;

async function flipByte(key: string, at: number): Promise<void> {
  const { value } = await read(key);
  value[at < 0 ? value.length + at : at]! ^= 1;
  await put(key, value);
}

async function findings(): Promise<readonly FsckFinding[]> {
  return unwrap(await fsck(temporary.store.inspect())).findings;
}

/** Everything below the prefix, byte for byte. */
async function contents(): Promise<string[]> {
  return (await keysBelow(client, layout.prefix)).map(({ key, value }) => `${key} ${value.toString("hex")}`);
}

/** An etcd whose tree is broken: a key is in every list and is not found by itself. */
class ForgetfulClient extends EtcdClient {
  readonly #lost: string;

  constructor(endpoint: string, lost: string) {
    super({ endpoints: [endpoint] });
    this.#lost = lost;
  }

  override txn(txn: Txn): ReturnType<EtcdClient["txn"]> {
    const success = txn.success.map((operation) =>
      "get" in operation && operation.get === this.#lost && operation.end === undefined
        ? { ...operation, get: `${operation.get}-elsewhere` }
        : operation,
    );
    return super.txn({ ...txn, success });
  }
}

/** Split a shard that can be claimed in two. */
async function splitOnce(): Promise<void> {
  const coordinator = new Coordinator({ store: temporary.store, clock: new ManualClock(2_000_000n) });
  for (;;) {
    const session = unwrap(await coordinator.claim({ ...address, worker: WorkerId.fromRaw(9n) }));
    const { spec, cursor } = session;
    const [high, low] = spec.keyRangeEnd;
    const point = ((high! << 8) | low!) - 1;
    const plan = planSplitReplaceAtPoints(spec, cursor, [Uint8Array.of(point >> 8, point & 0xff)]);
    // A shard may be too narrow. It stays claimed, so that the next one is another.
    if (!plan.ok) continue;
    unwrap(await session.splitReplace(plan.value));
    return;
  }
}

describe.skipIf(skipped !== undefined)("a store in etcd", () => {
  beforeEach(async () => {
    temporary = await makeStore(server);
    layout = new Layout(`${temporary.prefix}/`);
    await putKeys(client, layout.prefix, family);
    space = (await read(layout.head(address))).value.toString();
  });
  afterEach(() => temporary.dispose());

  test("in order is in order, and repair leaves every byte of it alone", async () => {
    const before = await contents();
    expect(unwrap(await fsck(temporary.store.inspect()))).toMatchObject({
      tenantCount: 1,
      runCount: 1,
      findings: [],
      deletedRunCount: 0,
    });
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 0,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await contents()).toEqual(before);
  });

  test("notes that cannot be read, and notes of a run that does not exist, are found", async () => {
    const note = (run: string, key: string) => `${layout.family("note").get}${address.tenant}/${run}/${key}`;
    expect(unwrap(await client.range({ ...layout.family("note"), countOnly: true })).count).toBeGreaterThan(3);
    const own = pathOf(address).split("/")[1]!;
    unwrap(await client.put({ put: note(own, "01/ff"), value: "{" }));
    unwrap(await client.put({ put: note(own, "01/fz"), value: "{}" }));
    expect(await findings()).toMatchObject([
      { kind: "NoteFault", space: "failure" },
      { kind: "NoteFault", space: undefined, detail: "its key does not name a note" },
    ]);
    await remove(note(own, "01/ff"));
    await remove(note(own, "01/fz"));
    unwrap(await client.put({ put: note("00000000000000ff", "05/"), value: "{}" }));
    expect(await findings()).toMatchObject([{ kind: "NotesWithoutRun", run: 255n, noteCount: 1 }]);
  });

  const indexes = [
    ["fresh", ShardKind.Fresh],
    ["begun", ShardKind.Begun],
    ["held", ShardKind.Held],
    ["parked", ShardKind.Parked],
    ["split", ShardKind.Split],
    ["order", ShardKind.Order],
  ] as const;

  test.each(indexes)("a missing entry of the index of what is %s is found and repaired", async (index, kind) => {
    const before = await contents();
    await remove(await firstOf(kind));
    expect(await findings()).toMatchObject([{ kind: "MissingEntry", index }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 1,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await contents()).toEqual(before);
  });

  test.each(indexes)("a dangling entry in the index of what is %s is found and repaired", async (index, kind) => {
    const before = await contents();
    const key = await firstOf(kind);
    await put(`${key.slice(0, -4)}5a5a`, (await read(key)).value);
    expect(await findings()).toMatchObject([{ kind: "StrayEntry", index }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 1,
      addedEntries: 0,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await contents()).toEqual(before);
  });

  test("a deadline in the index that is not the record's is found and repaired", async () => {
    const before = await contents();
    await flipByte(await firstOf(ShardKind.Held), 7);
    expect((await findings()).map(({ kind }) => kind)).toEqual(["MissingEntry", "StrayEntry"]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 1,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await contents()).toEqual(before);
  });

  test("entries in an unreferenced space are found and repaired", async () => {
    const before = await contents();
    await put(`${layout.kind("0123456789abcdef0123", ShardKind.Parked).get}${"0".repeat(16)}`);
    await put(`${layout.kind("f123456789abcdef0123", ShardKind.Parked).get}${"0".repeat(16)}`);
    expect(await findings()).toMatchObject([
      { kind: "StrayEntry", index: "parked" },
      { kind: "StrayEntry", index: "parked" },
    ]);
    expect(unwrap(await repair(temporary.store.inspect())).removedEntries).toBe(2);
    expect(await contents()).toEqual(before);
  });

  test.each(["Total", "Tenant"])("a wrong count is found and repaired: %s", async (scope) => {
    const before = await contents();
    const key = scope === "Total" ? layout.totalCount : layout.tenantCount(FAMILY_TENANT);
    for (const value of [undefined, "77", "no number"]) {
      await (value === undefined ? remove(key) : put(key, value));
      expect(await findings()).toMatchObject([{ kind: "WrongCount", scope }]);
      expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
        removedEntries: 0,
        addedEntries: 0,
        correctedCounts: 1,
        addedCensuses: 0,
      });
      expect(await contents()).toEqual(before);
    }
    await put(layout.tenantCount(TenantId.ZERO), "3");
    expect(await findings()).toMatchObject([{ kind: "WrongCount", scope: "Tenant", stored: 3, counted: 0 }]);
    unwrap(await repair(temporary.store.inspect()));
    expect(await contents()).toEqual(before);
  });

  test("all indexes and counts at once are rebuilt", async () => {
    const before = await contents();
    for (const [, kind] of indexes) {
      const { get, end } = layout.kind(space, kind);
      unwrap(await client.delete(get, end));
    }
    await remove(layout.totalCount);
    await remove(layout.tenantCount(FAMILY_TENANT));
    expect((await findings()).length).toBeGreaterThan(20);
    unwrap(await repair(temporary.store.inspect()));
    expect(await contents()).toEqual(before);
  });

  describe("the census of a run", () => {
    const censusKey = (): string => layout.census(space);
    const recordKeys = async (): Promise<string[]> =>
      unwrap(await client.range({ ...layout.kind(space, ShardKind.Record), keysOnly: true })).kvs.map(({ key }) => key);

    test("counts every shard that a registration or a split has created", async () => {
      const shards = (await recordKeys()).map(shardOf);
      expect(RunCensus.tryFromBytes((await read(censusKey())).value)).toEqual(RunCensus.of(shards));
      expect(shards.length).toBe(new Set(shards).size);
    });

    test("finds a record that vanished with everything that names it", async () => {
      const lost = (await recordKeys()).at(-1)!;
      const id = lost.slice(-16);
      const { kvs } = unwrap(await client.range({ ...layout.space(space), keysOnly: true }));
      for (const { key } of kvs.filter((kv) => kv.key.endsWith(id))) await remove(key);
      for (const key of [layout.totalCount, layout.tenantCount(FAMILY_TENANT)])
        await put(key, String(Number((await read(key)).value.toString()) - 1));
      expect(await findings()).toContainEqual(expect.objectContaining({ kind: "WrongCensus", ...address }));
      // It is the only evidence: repair leaves it as it is.
      unwrap(await repair(temporary.store.inspect()));
      expect(await findings()).toContainEqual(expect.objectContaining({ kind: "WrongCensus", ...address }));
    });

    test("finds a record that took the key of another", async () => {
      const moved = await read(layout.record(space, ROOT));
      await remove(moved.key);
      await put(layout.record(space, ShardId.fromRaw(77n)), moved.value);
      const found = await findings();
      expect(found).toContainEqual(expect.objectContaining({ kind: "WrongCensus" }));
      expect(found).toContainEqual(expect.objectContaining({ kind: "UnreadableRecord", shard: 77n }));
    });

    test("that cannot be read is reported, and left alone", async () => {
      await put(censusKey(), "rubbish");
      expect(await findings()).toMatchObject([{ kind: "WrongCensus" }]);
      expect(unwrap(await repair(temporary.store.inspect()))).toMatchObject({ addedCensuses: 0 });
      expect((await read(censusKey())).value.toString()).toBe("rubbish");
    });

    test("is missing for a run from before, is not started by a split, and is written by repair", async () => {
      await remove(censusKey());
      expect(await findings()).toEqual([]);
      await splitOnce();
      expect(unwrap(await client.get(censusKey())).found).toBeUndefined();
      expect(await findings()).toEqual([]);
      expect(unwrap(await repair(temporary.store.inspect()))).toMatchObject({ addedCensuses: 1 });
      const shards = (await recordKeys()).map(shardOf);
      expect(RunCensus.tryFromBytes((await read(censusKey())).value)).toEqual(RunCensus.of(shards));
      expect(unwrap(await repair(temporary.store.inspect()))).toMatchObject({ addedCensuses: 0 });
      await splitOnce();
      expect(await findings()).toEqual([]);
    });

    test("goes with its run", async () => {
      const coordinator = new Coordinator({ store: temporary.store, clock: new ManualClock(1_000_000n) });
      unwrap(await coordinator.cancelRun({ ...address, opId: OpId.fromRaw(1n << 40n) }));
      unwrap(await coordinator.deleteRun(address));
      expect(unwrap(await client.get(censusKey())).found).toBeUndefined();
      await temporary.store.swept();
      expect(await findings()).toEqual([]);
    });
  });

  test.each([
    ["a record", ShardKind.Record],
    ["an entry of an index", ShardKind.Order],
  ] as const)("%s that is listed and not found by its key is reported", async (_, kind) => {
    const lost = await firstOf(kind);
    const cluster = new Cluster(new ForgetfulClient(server.endpoint, lost), { layout, maxTxnOps: 128 });
    const source = new EtcdInspection({ cluster, capacities: new KnownCapacities(() => 0) }, () => false);
    expect(unwrap(await fsck(source)).findings).toMatchObject([{ kind: "NotFoundByKey", shard: shardOf(lost) }]);
    cluster.client.close();
  });

  test("an unreadable shard is left alone, with its entries, and reading it returns corruption", async () => {
    await flipByte(layout.record(space, ROOT), 60);
    const broken = await contents();
    expect(await findings()).toMatchObject([{ kind: "UnreadableRecord", shard: ROOT }]);
    expect(unwrap(await repair(temporary.store.inspect()))).toEqual({
      removedEntries: 0,
      addedEntries: 0,
      correctedCounts: 0,
      addedCensuses: 0,
    });
    expect(await contents()).toEqual(broken);
    expect(await temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ROOT })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test("a run that cannot be read, or that was not written with its head", async () => {
    await flipByte(layout.run(address), -1);
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", shard: undefined, detail: expect.stringContaining("together") },
    ]);
    expect(await temporary.store.readRun(FAMILY_TENANT, FAMILY_RUN)).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
    const [head, record] = [await read(layout.head(address)), await read(layout.run(address))];
    unwrap(
      await client.txn({
        compare: [],
        success: [
          { put: head.key, value: head.value },
          { put: record.key, value: record.value },
        ],
      }),
    );
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", shard: undefined, detail: expect.stringContaining("checksum") },
    ]);
    expect(await temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ROOT })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test("a head that names no space", async () => {
    const record = await read(layout.run(address));
    unwrap(
      await client.txn({
        compare: [],
        success: [
          { put: layout.head(address), value: "somewhere" },
          { put: record.key, value: record.value },
        ],
      }),
    );
    expect(await findings()).toContainEqual(
      expect.objectContaining({ kind: "UnreadableRecord", detail: expect.stringContaining("space") }),
    );
    expect(await temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ROOT })).toMatchObject({
      ok: false,
      error: { kind: "Corruption" },
    });
  });

  test("a run that is there with the mark of its removal, and a mark that cannot be read", async () => {
    await put(layout.deleted(address), "x");
    await put(layout.deleted(elsewhere), "x");
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", run: elsewhere.run },
      { kind: "UnreadableRecord", detail: expect.stringContaining("mark of its removal") },
    ]);
  });

  test("shards whose run is gone", async () => {
    await remove(layout.head(address));
    await remove(layout.run(address));
    expect(await findings()).toContainEqual(expect.objectContaining({ kind: "ShardsWithoutRun", ...address }));
  });

  test("a shard under another's key", async () => {
    await put(layout.record(space, ShardId.fromRaw(1n)), (await read(layout.record(space, ROOT))).value);
    expect(await findings()).toMatchObject([
      { kind: "UnreadableRecord", shard: 1n, detail: "it is stored under another's key" },
    ]);
    expect(
      await temporary.store.readShard(FAMILY_TENANT, { run: FAMILY_RUN, shard: ShardId.fromRaw(1n) }),
    ).toMatchObject({ ok: false, error: { kind: "Corruption" } });
  });

  test("listing through an index entry of a missing shard returns corruption, and does not crash", async () => {
    await remove(layout.record(space, ROOT));
    const query = {
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      after: undefined,
      limit: 100,
      filter: {},
      now: 1n as never,
    };
    expect(await temporary.store.listShards(query)).toMatchObject({ ok: false, error: { kind: "Corruption" } });
  });

  test("a check sees one moment, although others keep writing", async () => {
    const view = await temporary.store.inspect().look();
    let seen = 0;
    for await (const run of view.runs()) {
      await remove(await firstOf(ShardKind.Order));
      for await (const { index } of run.entries()) seen += index === "order" ? 1 : 0;
    }
    expect(seen).toBe(
      unwrap(await client.range({ ...layout.kind(space, ShardKind.Order), countOnly: true })).count + 1,
    );
    expect(await findings()).toMatchObject([{ kind: "MissingEntry", index: "order" }]);
  });

  test("a store that is closed is not checked", async () => {
    await temporary.store.close();
    expect(await fsck(temporary.store.inspect())).toMatchObject({ ok: false, error: { kind: "Transient" } });
    expect(await repair(temporary.store.inspect())).toMatchObject({ ok: false, error: { kind: "Transient" } });
  });
});
