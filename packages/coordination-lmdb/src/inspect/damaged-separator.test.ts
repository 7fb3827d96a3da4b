// A flipped bit in a key that separates two pages makes a search return a row from before the place where it began. A
// walk from row to row sees nothing of it. Loops that search from place to place would then never end.

import { RunId } from "@gossip/contracts";
import { fsck, repair } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { damageFlags, damageSeparator } from "../damaged-separator.fixture.ts";
import { openDatabase } from "../engine/open-database.ts";
import { Rows } from "../engine/rows.ts";
import { fillStore, FILL_SHARDS, FILL_TENANT } from "../fill-store.fixture.ts";
import { RowKind } from "../layout/keyspace.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { makeFolder, NO_GATE } from "../temporary-store.fixture.ts";
import { sweepRows } from "../write/sweep.ts";

const RUNS = 40;
const damaged = { ok: false, error: { kind: "Corruption", code: "MDB_CORRUPTED" } };

let folder: Awaited<ReturnType<typeof makeFolder>>;
let store: LmdbStore;

beforeEach(async () => {
  folder = await makeFolder();
  store = await open();
  await fillStore(store, { runs: RUNS, from: 1 });
  await store.close();
});
afterEach(async () => {
  await store.close();
  await folder.dispose();
});

async function open(): Promise<LmdbStore> {
  return unwrap(await openLmdbStore({ path: folder.path, durability: "Written" }));
}

test("fsck, repair and a transfer end with an error instead of never", async () => {
  expect(await damageSeparator(folder.path, RowKind.ShardRecord)).toBe(true);
  store = await open();
  expect(await fsck(store.inspect())).toMatchObject(damaged);
  expect(await repair(store.inspect())).toMatchObject(damaged);
  expect(() => [...store.transfer().frames(() => true)]).toThrow("the keys of the store are out of order");
});

test("a row that the engine refuses to read is damage, and not a failure that passes", async () => {
  await damageFlags(folder.path, RowKind.Order);
  store = await open();
  expect(await fsck(store.inspect())).toMatchObject(damaged);
});

test("a sweep of rows that a walk finds and a lookup does not ends with an error instead of never", async () => {
  expect(await damageSeparator(folder.path, RowKind.ShardRecord)).toBe(true);
  const db = openDatabase(folder.path, "Written");
  const rows = new Rows(db, NO_GATE);
  const outcomes = new Set<unknown>();
  for (let run = 1; run <= RUNS; run++) outcomes.add(await sweepOneByOne(rows, RunId.fromRaw(BigInt(run))));
  await db.close();
  expect(outcomes).toEqual(new Set(["swept", "MDB_CORRUPTED"]));
});

async function sweepOneByOne(rows: Rows, run: RunId): Promise<unknown> {
  // Four rows for each shard, and some of the run.
  for (let round = 0; round < 8 * FILL_SHARDS; round++) {
    try {
      if (await rows.transact(() => sweepRows(rows, { tenant: FILL_TENANT, run }, 1))) return "swept";
    } catch (thrown) {
      return (thrown as { readonly code?: unknown }).code;
    }
  }
  return "endless";
}
