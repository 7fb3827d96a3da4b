// A status that is read from counts is wrong forever once a change was missed. So the counts must survive updates that
// overtake each other, and a folder that an older version wrote or still writes must be counted anew.
import { once } from "node:events";
import { LogicalTime, RunId, TenantId, type ShardId } from "@gossip/contracts";
import { RunProgress, type CommitAnswer, type ShardRecord, type UpdateShardSet } from "@gossip/coordination";
import { fsck, repair, StatusCounts } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { ok, unwrap } from "@gossip/stdx";
import { waitFor } from "@gossip/tools/fault-run";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../engine/open-database.ts";
import { rangeOf, Rows } from "../engine/rows.ts";
import { RowKind, RUN_KEY_SIZE, runKey, storeKey } from "../layout/keyspace.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { makeFolder, makeStore, NO_GATE } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";
import { readStatusCounts } from "./status-counts.ts";

const address = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const now = LogicalTime.fromRaw(1_000_000n);

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(() => folder.dispose());
afterAll(() => processes.remove());

const open = async (): Promise<LmdbStore> => unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));

function listed(store: LmdbStore): readonly ShardRecord[] {
  return unwrap(store.listShards({ ...address, now, filter: {}, limit: 1000, after: undefined })).items;
}

/** Reads or changes rows behind the stores' back. */
async function withRows<T>(work: (rows: Rows) => T | Promise<T>): Promise<T> {
  const db = openDatabase(folder.path, "Written");
  try {
    return await work(new Rows(db, NO_GATE));
  } finally {
    await db.close();
  }
}

const stored = (): Promise<StatusCounts | undefined> => withRows((rows) => readStatusCounts(rows, address));

async function expectExact(store: LmdbStore, isCounted = true): Promise<void> {
  const shards = listed(store);
  expect(await stored()).toEqual(isCounted ? StatusCounts.of(shards) : undefined);
  expect(store.readProgress({ ...address, now })).toEqual(ok(RunProgress.of(shards, now)));
  expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
}

/** Makes the folder what a version before status counts leaves. */
async function age(): Promise<void> {
  await withRows(async (rows) =>
    rows.transact(() => {
      const keys = [...rows.keys(rangeOf(Buffer.of(RowKind.StatusCount)))];
      for (const key of keys) rows.remove(key);
      rows.remove(storeKey(RowKind.Counted));
      rows.put(storeKey(RowKind.Format), Buffer.of(0, 0, 0, 3));
    }),
  );
}

function updateOf(store: LmdbStore, shard: ShardId, changes: Partial<ShardRecord>): UpdateShardSet {
  const read = unwrap(store.readShard(address.tenant, { run: address.run, shard })).shard!;
  const { record: before, version: guard } = read;
  return {
    kind: "UpdateShard",
    ...address,
    shard: { guard, before, after: { ...before, ...changes } },
    runGuard: undefined,
    hintAt: undefined,
  };
}

const kinds = (answers: readonly CommitAnswer[]): string[] => answers.map(({ kind }) => kind);
const activeIn = (store: LmdbStore): ShardId[] =>
  listed(store)
    .filter(({ status }) => status === "Active")
    .map(({ shard }) => shard);

describe("status counts", () => {
  test("are exact after everything that happens to a family, and when it is opened again", async () => {
    for (const seed of [1, 2, 3]) {
      const store = await open();
      if (seed === 1) await raiseFamily(store, { seed: 11, steps: 60 });
      await expectExact(store);
      await store.close();
    }
  });

  test("are exact if an update before others of its batch is refused", async () => {
    const store = await open();
    await raiseFamily(store, { seed: 11, steps: 12 });
    const shards = activeIn(store);
    expect(shards.length).toBeGreaterThan(4);
    const sets = shards.map((shard) => updateOf(store, shard, { status: "Done" }));
    await store.commit([updateOf(store, shards[0]!, { attempts: 7 })]);
    await store.commit([updateOf(store, shards[2]!, { attempts: 7 })]);
    expect(kinds(await store.commit(sets))).toEqual(
      shards.map((_, index) => (index === 0 || index === 2 ? "Conflict" : "Committed")),
    );
    expect(activeIn(store)).toEqual([shards[0], shards[2]]);
    expect(await stored()).toEqual(StatusCounts.of(listed(store)));
    await store.close();
  });

  test("are exact if stores write at the same time", async () => {
    const stores = [await open(), await open(), await open()];
    await raiseFamily(stores[0]!, { seed: 11, steps: 30 });
    const shards = activeIn(stores[0]!);
    for (const status of ["Done", "Active", "Parked"] as const) {
      const answers = await Promise.all(
        shards.flatMap((shard, index) => {
          const parkReason = status === "Parked" ? ("Poisoned" as const) : undefined;
          const store = stores[index % 3]!;
          return store.commit([updateOf(store, shard, { status, parkReason, lease: undefined })]);
        }),
      );
      expect(kinds(answers.flat())).toEqual(shards.map(() => "Committed"));
      expect(await stored()).toEqual(StatusCounts.of(listed(stores[1]!)));
    }
    for (const store of stores) await store.close();
  });

  test("are made when a folder of an older version is opened", async () => {
    const before = await open();
    await raiseFamily(before, { seed: 11, steps: 40 });
    await before.close();
    await age();
    expect(await stored()).toBe(undefined);
    const store = await open();
    await expectExact(store);
    await store.close();
  });

  test("are not made while another process has the folder open, and its runs are counted instead", async () => {
    const before = await open();
    await raiseFamily(before, { seed: 11, steps: 40 });
    await before.close();
    await age();
    const other = await processes.start("./hold-folder.fixture.ts", { path: folder.path });
    expect(String((await once(other.stdout!, "data"))[0])).toBe('{"hasFormat":true}');
    const store = await open();
    await expectExact(store, false);
    // Nor do new runs get any: the other process may be of a version that does not update them.
    const [shard] = activeIn(store);
    expect(kinds(await store.commit([updateOf(store, shard!, { status: "Done" })]))).toEqual(["Committed"]);
    await expectExact(store, false);
    await store.close();
    other.kill("SIGKILL");
    await waitFor(other);
    const alone = await open();
    await expectExact(alone);
    await alone.close();
  });

  test("are corrected by a repair, whichever slot is wrong", async () => {
    const store = await open();
    await raiseFamily(store, { seed: 11, steps: 40 });
    const slots = await withRows((rows) => [...rows.keys(rangeOf(runKey(RowKind.StatusCount, address)))]);
    expect(slots.map((key) => key[RUN_KEY_SIZE] === 0)).toEqual([true, false]);
    for (const key of slots) {
      for (const value of [Buffer.alloc(24, 1), Buffer.of(1)]) {
        await withRows((rows) => rows.transact(() => rows.put(key, value, 1)));
        const findings = unwrap(await fsck(store.inspect())).findings;
        expect(findings.map((each) => (each.kind === "WrongCount" ? each.scope : each.kind))).toEqual([
          "Done",
          "Split",
          "Parked",
        ]);
        expect(unwrap(await repair(store.inspect())).correctedCounts).toBe(3);
        await expectExact(store);
      }
    }
    const [shard] = activeIn(store);
    await store.commit([updateOf(store, shard!, { status: "Done" })]);
    expect(await stored()).toEqual(StatusCounts.of(listed(store)));
    await store.close();
  });

  test("move with their run, and leave nothing behind", async () => {
    const store = await open();
    await raiseFamily(store, { seed: 11, steps: 40 });
    const target = await makeStore();
    const all = (): boolean => true;
    for (const frame of store.transfer().frames(all))
      expect(unwrap(await target.store.transfer().stage(frame, all))).toBe(true);
    expect(target.store.readProgress({ ...address, now })).toEqual(store.readProgress({ ...address, now }));
    expect(unwrap(await target.store.transfer().check(all))).toBe(0);
    expect(unwrap(await store.transfer().purge(all))).toBe(true);
    expect(await withRows((rows) => rows.first(rangeOf(Buffer.of(RowKind.StatusCount))))).toBe(undefined);
    await store.close();
    await target.dispose();
  });

  test("of a removed run are removed with it", async () => {
    const store = await open();
    await raiseFamily(store, { seed: 11, steps: 40 });
    const run = unwrap(store.readRun(address.tenant, address.run));
    if (run.kind !== "Found") throw new Error("the run is there");
    expect(kinds(await store.commit([{ kind: "RemoveRun", ...address, guard: run.version }]))).toEqual(["Committed"]);
    await store.swept();
    expect(await withRows((rows) => rows.first(rangeOf(Buffer.of(RowKind.StatusCount))))).toBe(undefined);
    expect(unwrap(store.readProgress({ tenant: TenantId.ZERO, run: RunId.fromRaw(1n), now }))).toEqual(
      RunProgress.NONE,
    );
    await store.close();
  });
});
