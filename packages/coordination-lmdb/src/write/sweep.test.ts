// Removing a run of a million shards must not stop all writers for minutes, so its shards are removed in pieces afterwards. In
// between, no caller may see, count or write them; and a process that dies halfway must leave nothing behind forever.

import { RunId, ShardId, TenantId } from "@gossip/contracts";
import type { RunRecord, ShardRecord, Versioned, WriteSet } from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { waitFor } from "@gossip/tools/fault-run";
import { changed, makeRun, makeShard } from "@gossip/tools/store-model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunAddress } from "@gossip/store-kit";
import { RowKind, runKey } from "../layout/keyspace.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { openDatabase } from "../engine/open-database.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { rangeOf, Rows } from "../engine/rows.ts";
import { SWEEP_SIZE } from "./sweep.ts";
import { makeFolder, NO_GATE } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(3));
const RUN = RunId.fromRaw(5n);
const address: RunAddress = { tenant: TENANT, run: RUN };
/** Three rows each, so that several transactions are needed. */
const SHARDS = SWEEP_SIZE;
const limits = { maxShardsPerTenant: SHARDS, maxShardsTotal: SHARDS };

let folder: Awaited<ReturnType<typeof makeFolder>>;
let store: LmdbStore;

beforeEach(async () => {
  folder = await makeFolder();
  store = await open();
  const created = Array.from({ length: SHARDS }, (_, index) =>
    makeShard(TENANT, RUN, ShardId.fromRaw(BigInt(index)), String(index).padStart(5, "0")),
  );
  await commit({
    kind: "PutRun",
    ...address,
    guard: undefined,
    after: makeRun(TENANT, RUN),
    created,
    limits,
    noShardsIn: [],
  });
});
afterEach(async () => {
  await store.close();
  await processes.remove();
  await folder.dispose();
});

async function open(): Promise<LmdbStore> {
  return unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
}

async function commit(set: WriteSet): Promise<void> {
  expect(await store.commit([set])).toMatchObject([{ kind: "Committed" }]);
}

async function remove(): Promise<void> {
  const read = unwrap(store.readRun(TENANT, RUN)) as Versioned<RunRecord>;
  await commit({ kind: "RemoveRun", ...address, guard: read.version });
}

/** How many rows the run has left, whatever the store says. */
async function rowsLeft(): Promise<number> {
  const db = openDatabase(folder.path, "Written");
  const rows = new Rows(db, NO_GATE);
  const kinds = [
    RowKind.Claim,
    RowKind.Status,
    RowKind.Order,
    RowKind.ShardRecord,
    RowKind.Unswept,
    RowKind.RunCount,
    RowKind.Starved,
  ];
  const left = kinds.reduce((sum, kind) => sum + rows.count(rangeOf(runKey(kind, address))), 0);
  await db.close();
  return left;
}

describe("a removed run", () => {
  test("is gone at once, with its shards and their count, while most of its rows still exist", async () => {
    const held = unwrap(store.readShard(TENANT, { run: RUN, shard: ShardId.fromRaw(9n) }))
      .shard as Versioned<ShardRecord>;
    await remove();
    expect(await rowsLeft()).toBeGreaterThan(SHARDS);

    expect(unwrap(store.readRun(TENANT, RUN))).toEqual({ kind: "Deleted" });
    expect(unwrap(store.readShard(TENANT, { run: RUN, shard: ShardId.fromRaw(9n) }))).toEqual({
      run: undefined,
      shard: undefined,
    });
    const moment = { ...address, now: 1n as never };
    expect(unwrap(store.listShards({ ...moment, after: undefined, limit: 5, filter: {} })).items).toEqual([]);
    expect(unwrap(store.listClaimCandidates({ ...moment, limit: 5, spread: 0 }))).toEqual({
      run: undefined,
      candidates: [],
      earliestDeadline: undefined,
    });
    expect(unwrap(store.readProgress(moment)).total).toBe(0);
    expect(unwrap(store.readHint(moment)).availableCount).toBe(0);
    expect(unwrap(store.listTenants({ after: undefined, limit: 5 })).items).toEqual([]);
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ findings: [], shardCount: 0 });

    // Its holder comes too late, and its quota is another's.
    const after = changed(held.record, { status: "Active", deadline: 9n, lastKey: undefined, attempts: 1 });
    const late = {
      kind: "UpdateShard",
      ...address,
      shard: { guard: held.version, before: held.record, after },
      runGuard: undefined,
      hintAt: undefined,
    } as const;
    expect(await store.commit([late])).toEqual([{ kind: "Conflict" }]);
    const next = RunId.fromRaw(6n);
    const created = Array.from({ length: SHARDS }, (_, index) =>
      makeShard(TENANT, next, ShardId.fromRaw(BigInt(index)), "a"),
    );
    await commit({
      kind: "PutRun",
      tenant: TENANT,
      run: next,
      guard: undefined,
      after: makeRun(TENANT, next),
      created,
      limits,
      noShardsIn: [],
    });
  });

  test("leaves only its mark when it is swept", async () => {
    await remove();
    await store.swept();
    expect(await rowsLeft()).toBe(0);
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ findings: [], deletedRunCount: 1 });
  });

  test("is swept by the next process that opens the folder", async () => {
    await remove();
    await store.close();
    expect(await rowsLeft()).toBeGreaterThan(0);
    store = await open();
    await store.swept();
    expect(await rowsLeft()).toBe(0);
  });

  test("is swept after a process was killed in the middle of it", async () => {
    await store.close();
    const child = await processes.start("./remove-run.fixture.ts", {
      path: folder.path,
      tenant: TENANT,
      run: String(RUN),
    });
    expect(await waitFor(child)).toMatchObject({ signal: "SIGKILL", output: expect.stringContaining("removed") });
    expect(await rowsLeft()).toBeGreaterThan(0);
    store = await open();
    expect(unwrap(store.readRun(TENANT, RUN))).toEqual({ kind: "Deleted" });
    expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
    await store.swept();
    expect(await rowsLeft()).toBe(0);
  });
});
