// A status that is read from counts is wrong forever once a change was missed, or was counted twice. The counts here are
// numbers of puts, which no condition guards: they must be exact whatever writes at the same time, and a run of an older
// version, which has none, must be counted as before.
import { LogicalTime, type ShardId } from "@gossip/contracts";
import { RunProgress, type ShardRecord, type UpdateShardSet } from "@gossip/coordination";
import { fsck, repair, StatusCounts } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { EtcdClient } from "@gossip/etcd-client";
import { ok, unwrap } from "@gossip/stdx";
import { etcdMissing } from "@gossip/tools/engines";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { EtcdStore } from "../etcd-store.ts";
import { keysBelow, makeFamilyKeys, putKeys } from "../inspect/family-keys.fixture.ts";
import { sumTallies } from "../layout/tallies.ts";
import { openEtcdStore } from "../open/open-etcd-store.ts";
import { makeStore, startTestEtcd, type TemporaryStore, type TestServer } from "../temporary-store.fixture.ts";

const address = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const now = LogicalTime.fromRaw(1_000_000n);

describe.skipIf(etcdMissing() !== undefined)("status counts in etcd", () => {
  let server: TestServer;
  let client: EtcdClient;
  let temporary: TemporaryStore;

  beforeAll(async () => {
    server = await startTestEtcd();
    client = new EtcdClient({ endpoints: [server.endpoint] });
  });

  afterAll(async () => {
    client?.close();
    await server?.dispose();
  });

  beforeEach(async () => {
    temporary = await makeStore(server);
    return () => temporary.dispose();
  });

  const listed = async (store: EtcdStore): Promise<readonly ShardRecord[]> =>
    unwrap(await store.listShards({ ...address, now, filter: {}, limit: 512, after: undefined })).items;

  const tallies = async () =>
    (await keysBelow(client, `${temporary.prefix}/s/`)).filter(({ key }) => /\/t\/[^/]*$/u.test(key));

  async function expectExact(store: EtcdStore, isCounted = true): Promise<void> {
    const shards = await listed(store);
    const stored = await tallies();
    expect(stored.length > 0).toBe(isCounted);
    if (isCounted) expect(sumTallies(stored)).toEqual(StatusCounts.of(shards));
    expect(await store.readProgress({ ...address, now })).toEqual(ok(RunProgress.of(shards, now)));
    expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
  }

  async function updateOf(store: EtcdStore, shard: ShardId, changes: Partial<ShardRecord>): Promise<UpdateShardSet> {
    const { record: before, version: guard } = unwrap(
      await store.readShard(address.tenant, { run: address.run, shard }),
    ).shard!;
    const write = { guard, before, after: { ...before, ...changes } };
    return { kind: "UpdateShard", ...address, shard: write, runGuard: undefined, hintAt: undefined };
  }

  test("are exact after everything that happens to a family", async () => {
    await raiseFamily(temporary.store, { seed: 11, steps: 60 });
    await expectExact(temporary.store);
  });

  test("are exact if stores write at the same time, in batches of which some are refused", async () => {
    const { store, prefix } = temporary;
    const other = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix }));
    await raiseFamily(store, { seed: 11, steps: 30 });
    const shards = (await listed(store)).filter(({ status }) => status === "Active").map(({ shard }) => shard);
    expect(shards.length).toBeGreaterThan(5);
    for (const status of ["Parked", "Active", "Done"] as const) {
      const parkReason = status === "Parked" ? ("Poisoned" as const) : undefined;
      const sets = await Promise.all(
        shards.map((shard) => updateOf(store, shard, { status, parkReason, lease: undefined })),
      );
      // Both want all of them: each is written by one.
      const answers = await Promise.all([store.commit(sets), other.commit(sets)]);
      const made = answers.flat().filter(({ kind }) => kind === "Committed");
      expect(made).toHaveLength(shards.length);
      expect(sumTallies(await tallies())).toEqual(StatusCounts.of(await listed(store)));
    }
    expect(await other.readProgress({ ...address, now })).toEqual(await store.readProgress({ ...address, now }));
    await other.close();
  });

  test("are missing in a run of an older version, whose shards are counted", async () => {
    const { store, prefix } = temporary;
    const keys = await makeFamilyKeys(server, client);
    const [space] = keys.flatMap(([key]) => /^s\/(k[0-9a-f]{19})\//u.exec(key)?.[1] ?? []);
    const older = `0${space!.slice(1)}`;
    const aged = keys
      .filter(([key]) => !key.includes("/t/"))
      .map(([key, value]) => {
        const isHead = key.startsWith("head/");
        return [key.replace(space!, older), isHead ? Buffer.from(older) : value] as const;
      });
    await putKeys(client, `${prefix}/`, aged);
    await expectExact(store, false);
    const active = (await listed(store)).find(({ status }) => status === "Active")!;
    const [answer] = await store.commit([await updateOf(store, active.shard, { status: "Done", lease: undefined })]);
    expect(answer?.kind).toBe("Committed");
    await expectExact(store, false);
    expect(unwrap(await repair(store.inspect()))).toMatchObject({ correctedCounts: 0 });
  });

  test("are corrected by a repair, and go on from there", async () => {
    const { store } = temporary;
    await raiseFamily(store, { seed: 11, steps: 40 });
    const some = await tallies();
    for (const { key } of some.slice(0, 2)) unwrap(await client.txn({ compare: [], success: [{ delete: key }] }));
    const wrong = unwrap(await fsck(store.inspect())).findings;
    expect(wrong.every(({ kind }) => kind === "WrongCount")).toBe(true);
    expect(wrong.length).toBeGreaterThan(0);
    expect(unwrap(await repair(store.inspect())).correctedCounts).toBe(wrong.length);
    await expectExact(store);
    const active = (await listed(store)).find(({ status }) => status === "Active")!;
    await store.commit([await updateOf(store, active.shard, { status: "Done", lease: undefined })]);
    expect(sumTallies(await tallies())).toEqual(StatusCounts.of(await listed(store)));
  });

  test("that cannot be read are found and corrected", async () => {
    const { store } = temporary;
    await raiseFamily(store, { seed: 11, steps: 40 });
    const [first] = await tallies();
    unwrap(await client.put({ put: first!.key.replace(/\/t\/.*$/u, "/t/="), value: "x" }));
    expect(unwrap(await fsck(store.inspect())).findings).toHaveLength(3);
    expect(unwrap(await repair(store.inspect())).correctedCounts).toBe(3);
    await expectExact(store);
  });
});
