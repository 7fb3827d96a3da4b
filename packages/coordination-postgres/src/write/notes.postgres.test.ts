// A failure that is recorded without its checkpoint, or the other way round, makes the ledger of a run wrong. Notes that stay behind when
// their run is removed are never found again. On tables of an earlier version a failure must be refused, not lost.

import { Cursor, LogicalTime, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, RANGE_EXHAUSTED, systemClock, type FailureInput, type WorkerSession } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../open/migrate.ts";
import { migratePostgresStore, openPostgresStore } from "../open/open-postgres-store.ts";
import {
  dropStatusCounts,
  makeStore,
  startFastPostgres,
  type TemporaryStore,
  type TestServer,
} from "../temporary-database.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(8));
const RUN = RunId.fromRaw(1n);
const OF_RUN = { tenant: TENANT, run: RUN };
const WORKER = WorkerId.fromRaw(0xabcn);
const text = (value: string) => new TextEncoder().encode(value);
const failed = (key: string): FailureInput => ({
  key: text(key),
  attempts: 3,
  reason: "ItemFailed",
  error: `no ${key}`,
});

let server: TestServer;
let pool: Pool;
let temporary: TemporaryStore;
let coordinator: Coordinator;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 6 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

beforeEach(async () => {
  temporary = await makeStore(pool);
  coordinator = over(temporary.store);
  return () => temporary.dispose();
});

function over(store: TemporaryStore["store"]): Coordinator {
  return new Coordinator({ store, clock: systemClock(Date.now), retry: { sleep: () => Promise.resolve() } });
}

/** Runs SQL in which `@` stands for the schema. */
async function sql(statement: string): Promise<Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(statement.replaceAll("@", temporary.schema))).rows;
}

async function open(): Promise<WorkerSession> {
  const spec = ShardSpec.withRange({ start: text("a"), end: text("z") });
  const shards = [{ shard: ShardId.fromRaw(0x1fn), spec, cursor: Cursor.initial() }];
  const config = { leaseDuration: 1_000_000n };
  unwrap(await coordinator.createRunWithShards({ ...OF_RUN, config, shards, opId: OpId.fromRaw(1n) }));
  return unwrap(await coordinator.claim({ ...OF_RUN, worker: WORKER }));
}

test("views show leases, failures, workers and parked shards with hex ids and timestamps", async () => {
  const session = await open();
  const info = { name: "host:1", host: "host", pid: 1, version: "1", shards: [], itemCount: 2, itemsPerSecond: 0.5 };
  const startedAt = LogicalTime.fromRaw(1_700_000_000_000n);
  unwrap(await coordinator.registerWorker({ ...OF_RUN, worker: WORKER, info: { ...info, startedAt }, ttl: 60_000n }));
  unwrap(await session.checkpoint(Cursor.withLastKey(text("b")), { failures: [failed("b")] }));
  expect(
    await sql(
      "SELECT run_hex, shard_hex, lease_owner_hex, worker_name FROM @.shard_overview WHERE lease_expires_at > now()",
    ),
  ).toEqual([
    {
      run_hex: "0000000000000001",
      shard_hex: "000000000000001f",
      lease_owner_hex: "0000000000000abc",
      worker_name: "host:1",
    },
  ]);
  expect(await sql("SELECT run_hex, status FROM @.run_overview")).toEqual([
    { run_hex: "0000000000000001", status: "Active" },
  ]);
  const item = Uint8Array.of(0xfb, 0xef, 0xbe, 0xff);
  unwrap(
    await session.park("Poisoned", { detail: { item, attempts: 2, error: "'broken'\n\"ä\"", workerName: "host:1" } }),
  );

  expect(
    await sql(
      "SELECT run_hex, convert_from(key, 'UTF8') AS key, reason, error, attempts, shard_hex, worker_hex FROM @.failure_overview",
    ),
  ).toEqual([
    {
      run_hex: "0000000000000001",
      key: "b",
      reason: "ItemFailed",
      error: "no b",
      attempts: "3",
      shard_hex: "000000000000001f",
      worker_hex: "0000000000000abc",
    },
  ]);
  const recent = "BETWEEN now() - interval '1 minute' AND now() + interval '1 minute'";
  expect(await sql(`SELECT count(*)::int AS count FROM @.failure_overview WHERE failed_at ${recent}`)).toEqual([
    { count: 1 },
  ]);
  expect(
    await sql(
      "SELECT worker_hex, name, pid, item_count, items_per_second, started_at FROM @.worker_overview WHERE expires_at > now()",
    ),
  ).toEqual([
    {
      worker_hex: "0000000000000abc",
      name: "host:1",
      pid: "1",
      item_count: "2",
      items_per_second: 0.5,
      started_at: new Date(1_700_000_000_000),
    },
  ]);
  expect(
    await sql(
      `SELECT shard_hex, park_reason, error, attempts, item, worker_name FROM @.parked_overview WHERE parked_at ${recent}`,
    ),
  ).toEqual([
    {
      shard_hex: "000000000000001f",
      park_reason: "Poisoned",
      error: "'broken'\n\"ä\"",
      attempts: "2",
      item: Buffer.from(item),
      worker_name: "host:1",
    },
  ]);
});

test("a checkpoint that a removal waited for leaves no notes behind", async () => {
  const session = await open();
  // Another transaction holds the shard's row, so that the checkpoint and then the removal wait, in this order.
  const client = await pool.connect();
  await client.query(`BEGIN; UPDATE ${temporary.schema}.shards SET attempts = attempts`);
  const waiting = async (count: number) => {
    const blocked = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while ((await pool.query<{ count: number }>(blocked)).rows[0]!.count !== count);
  };
  const checkpoint = session.checkpoint(Cursor.withLastKey(text("b")), { failures: [failed("b")] });
  await waiting(1);
  unwrap(await coordinator.failRun({ ...OF_RUN, opId: OpId.fromRaw(9n) }));
  const removal = coordinator.deleteRun(OF_RUN);
  await waiting(2);
  await client.query("COMMIT");
  client.release();
  // Either may get the row first. A checkpoint that finds its run removed is refused, and records nothing.
  await Promise.all([checkpoint, removal.then(unwrap)]);
  expect(await sql("SELECT count(*)::int AS notes FROM @.notes")).toEqual([{ notes: 0 }]);
});

test("tables without notes refuse failures, do without them otherwise, and take them once they are migrated", async () => {
  const { schema } = temporary;
  await sql(
    `${dropStatusCounts("@")}DROP TABLE @.notes CASCADE; DROP FUNCTION @.time_of, @.json_of CASCADE; DELETE FROM @.migrations WHERE version > 4`,
  );
  const store = unwrap(await openPostgresStore({ pool, schema, migrate: false }));
  coordinator = over(store);
  const session = await open();
  const refused = await session.checkpoint(Cursor.withLastKey(text("b")), { failures: [failed("b")] });
  expect(refused).toMatchObject({ ok: false, error: { kind: "BackendError" } });
  expect(session.cursor.lastKey).toBe(undefined);
  unwrap(await session.checkpoint(Cursor.withLastKey(text("a"))));
  unwrap(await session.park("Poisoned"));
  unwrap(await coordinator.unpark({ tenant: TENANT, key: session.shardKey, opId: OpId.fromRaw(5n) }));
  expect(unwrap(await coordinator.listFailures(OF_RUN)).items).toEqual([]);
  expect(unwrap(await coordinator.countFailures(OF_RUN))).toBe(0);

  expect(unwrap(await migratePostgresStore({ pool, schema }))).toMatchObject({ from: 4, to: SCHEMA_VERSION });
  const next = unwrap(await coordinator.claim({ ...OF_RUN, worker: WORKER }));
  unwrap(await next.complete(RANGE_EXHAUSTED, { failures: [failed("b")] }));
  expect(unwrap(await coordinator.countFailures(OF_RUN))).toBe(1);
  await store.close();
});
