// A record that vanished together with its index entries leaves no contradiction behind. Only the census knows that it was there, so it must
// follow every change of the set of shards, and stay what it was when the records change by themselves.

import {
  Cursor,
  OpId,
  planSplitResidualAtPoint,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { Coordinator, systemClock } from "@gossip/coordination";
import { fsck, repair, RunCensus, type FsckFinding } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Database } from "../database/database.ts";
import { listEntries, listShardRows, type InspectedShardRow } from "../inspect/inspected-rows.ts";
import { SCHEMA_VERSION } from "../open/migrate.ts";
import { migratePostgresStore, openPostgresStore } from "../open/open-postgres-store.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { INSPECT_SHARDS } from "../sql/inspect.ts";
import {
  dropStatusCounts,
  makeStore,
  startFastPostgres,
  type TemporaryStore,
  type TestServer,
} from "../temporary-database.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(6));
const RUN = RunId.fromRaw(1n);
const SHARDS = 4;
const address = { tenant: TENANT, run: RUN };

let server: TestServer;
let pool: Pool;
let temporary: TemporaryStore;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 4 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

beforeEach(async () => {
  temporary = await makeStore(pool);
  return () => temporary.dispose();
});

/** Runs SQL in which `@` stands for the schema. */
async function sql(text: string): Promise<Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(text.replaceAll("@", temporary.schema))).rows;
}

const over = (store: PostgresStore) => new Coordinator({ store, clock: systemClock(Date.now) });
const findings = async (store = temporary.store): Promise<readonly FsckFinding[]> =>
  unwrap(await fsck(store.inspect())).findings;

async function register(coordinator: Coordinator, run = RUN): Promise<void> {
  const shards = Array.from({ length: SHARDS }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: Uint8Array.of(10 * index + 1), end: Uint8Array.of(10 * index + 11) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 1_000_000n };
  unwrap(await coordinator.createRunWithShards({ tenant: TENANT, run, config, shards, opId: OpId.fromRaw(1n) }));
}

/** Claims a shard, makes progress in it and cuts off its second half. */
async function work(coordinator: Coordinator, run = RUN): Promise<void> {
  const session = unwrap(await coordinator.claim({ tenant: TENANT, run, worker: WorkerId.fromRaw(1n) }));
  const start = session.spec.keyRangeStart[0]!;
  unwrap(await session.checkpoint(Cursor.withLastKey(Uint8Array.of(start))));
  unwrap(
    await session.splitResidual(
      unwrap(planSplitResidualAtPoint(session.spec, session.cursor, Uint8Array.of(start + 1))),
    ),
  );
}

/** The stored census of each run, and which transaction wrote it. */
const censuses = async () =>
  await sql("SELECT run_id, shard_count, digest::text, xmin::text FROM @.censuses ORDER BY 1");

async function idsOf(run = 1n): Promise<ShardId[]> {
  const rows = await sql(
    `SELECT @.u64(s.shard)::text AS id FROM @.shards s JOIN @.runs r ON r.id = s.run_id WHERE @.u64(r.run) = ${run}`,
  );
  return rows.map(({ id }) => ShardId.fromRaw(BigInt(id as string)));
}

const asStored = ({ count, digest }: RunCensus) => ({ shard_count: String(count), digest: String(digest) });

test("it follows registrations and splits, is not written by claims and checkpoints, and goes with its run", async () => {
  const coordinator = over(temporary.store);
  await register(coordinator);
  const registered = await censuses();
  expect(registered).toMatchObject([asStored(RunCensus.of(await idsOf()))]);
  const session = unwrap(await coordinator.claim({ tenant: TENANT, run: RUN, worker: WorkerId.fromRaw(1n) }));
  unwrap(await session.checkpoint(Cursor.withLastKey(session.spec.keyRangeStart)));
  unwrap(await session.release());
  expect(await censuses()).toEqual(registered);

  await work(coordinator);
  expect(await censuses()).toMatchObject([asStored(RunCensus.of(await idsOf()))]);
  expect(await idsOf()).toHaveLength(SHARDS + 1);
  expect(await findings()).toEqual([]);
  unwrap(await coordinator.cancelRun({ tenant: TENANT, run: RUN, opId: OpId.fromRaw(2n) }));
  unwrap(await coordinator.deleteRun({ tenant: TENANT, run: RUN }));
  expect(await censuses()).toEqual([]);
  expect(await findings()).toEqual([]);
});

test("a row that is deleted with all that belongs to it is missed, before and after a repair", async () => {
  await register(over(temporary.store));
  const id = "'\\x0000000000000002'";
  await sql(`DELETE FROM @.shards WHERE shard = ${id}; DELETE FROM @.places WHERE substring(place FROM 14) = ${id};
    UPDATE @.runs SET shard_count = 3; UPDATE @.tenants SET shard_count = 3; UPDATE @.totals SET shard_count = 3`);
  const missed = { kind: "WrongCensus", ...address, stored: SHARDS, counted: SHARDS - 1 };
  expect(await findings()).toContainEqual(missed);
  expect(unwrap(await repair(temporary.store.inspect()))).toMatchObject({ addedCensuses: 0 });
  expect(await findings()).toContainEqual(missed);
});

test("a row in place of another is found though their number is right", async () => {
  await register(over(temporary.store));
  await sql("UPDATE @.shards SET shard = '\\x00000000000000ff' WHERE shard = '\\x0000000000000002'");
  expect(await findings()).toContainEqual({ kind: "WrongCensus", ...address, stored: SHARDS, counted: SHARDS });
});

test("a run of which nothing is left but its census", async () => {
  await register(over(temporary.store));
  await sql("DELETE FROM @.runs; DELETE FROM @.shards; DELETE FROM @.places");
  expect(await findings()).toContainEqual(expect.objectContaining({ kind: "WrongCensus", stored: SHARDS, counted: 0 }));
});

test("tables without censuses are used as they are, and a running process begins to write censuses once they are migrated", async () => {
  const { schema } = temporary;
  await sql(
    `${dropStatusCounts("@")}DROP TABLE @.notes CASCADE; DROP FUNCTION @.time_of, @.json_of CASCADE; DROP TABLE @.censuses; DELETE FROM @.migrations WHERE version > 3`,
  );
  // A run is there and other sessions are connected: opening changes nothing.
  await sql("INSERT INTO @.tenants VALUES (decode(repeat('09', 32), 'hex'), 0)");
  const store = unwrap(await openPostgresStore({ pool, schema, migrate: false }));
  const coordinator = over(store);
  await register(coordinator);
  await work(coordinator);
  expect(await findings(store)).toEqual([]);
  const second = unwrap(await openPostgresStore({ pool, schema }));
  expect(await sql("SELECT max(version) AS version FROM @.migrations")).toEqual([{ version: 3 }]);

  expect(unwrap(await migratePostgresStore({ pool, schema }))).toMatchObject({ from: 3, to: SCHEMA_VERSION });
  await work(coordinator);
  expect(await censuses()).toEqual([]);
  await register(coordinator, RunId.fromRaw(2n));
  await work(over(second), RunId.fromRaw(2n));
  expect(await censuses()).toMatchObject([asStored(RunCensus.of(await idsOf(2n)))]);

  expect(unwrap(await repair(store.inspect()))).toMatchObject({ addedCensuses: 1, correctedCounts: 0 });
  await work(coordinator);
  expect(await censuses()).toMatchObject([
    asStored(RunCensus.of(await idsOf(1n))),
    asStored(RunCensus.of(await idsOf(2n))),
  ]);
  expect(await findings(store)).toEqual([]);
  await store.close();
  await second.close();
});

test("a census that a process of an older version left behind is not held against its run", async () => {
  await register(over(temporary.store));
  await sql("UPDATE @.censuses SET shard_count = shard_count - 1, digest = 7");
  expect(await findings()).toEqual([]);
});

test("rows and claim index entries that are listed and not found by their keys are reported", async () => {
  await register(over(temporary.store));
  const database = new Database(pool, `"${temporary.schema}"`);
  // What a damaged index would list: a key that leads nowhere, and a row other than the one that the key leads to.
  const statement = {
    name: "damaged_listing",
    text: (schema: string) =>
      INSPECT_SHARDS.text(schema)
        .replace("ctid::text AS tid", "CASE shard WHEN '\\x0000000000000002' THEN '(9,9)' ELSE ctid::text END AS tid")
        .replace(
          "shard, attempts",
          "CASE shard WHEN '\\x0000000000000003' THEN '\\x00000000000000ff' ELSE shard END AS shard, attempts",
        )
        .replace("ORDER BY shard", "ORDER BY shards.shard"),
  };
  const listed: string[] = [];
  const lost: string[] = [];
  await database.use(async (connection) => {
    const onLost = ({ shard }: InspectedShardRow) => void lost.push(shard.toString("hex").slice(-2));
    const [{ id }] = (await sql("SELECT id FROM @.runs")) as [{ id: string }];
    for await (const { shard } of listShardRows(connection, id, { statement, onLost }))
      listed.push(shard.toString("hex").slice(-2));
    for await (const _ of listEntries(connection, id, () => void lost.push("entry")));
  });
  expect(listed).toEqual(["01", "02", "ff", "04"]);
  expect(lost.toSorted()).toEqual(["02", "ff"]);
});
