// Every tenant's registrations and splits share one quota, hence one row. A registration of many shards that keeps that row locked while it
// inserts stops every other tenant; one that checks the quota only before it inserts lets two registrations exceed it together.

import { Cursor, LogicalTime, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type CommitAnswer,
  type PutRunSet,
  type ShardRecord,
} from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { makeStore, startFastPostgres, type TemporaryStore, type TestServer } from "../temporary-database.fixture.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";

const MANY = 10_000;
const RUN = RunId.fromRaw(1n);
const tenant = (number: number) => TenantId.fromBytes(new Uint8Array(32).fill(number));
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;
const WIDE = { maxShardsPerTenant: 100_000, maxShardsTotal: 100_000 };

/** The key of the advisory lock that the trigger waits for. */
const GATE = 77;

let server: TestServer;
let pool: Pool;
let gate: Client;
let temporary: TemporaryStore;
let isOver = false;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 6 });
  gate = new Client({ connectionString: server.url });
  await gate.connect();
});

afterAll(async () => {
  await gate?.end();
  await pool?.end();
  await server?.dispose();
});

beforeEach(async () => {
  isOver = false;
  temporary = await makeStore(pool);
});

afterEach(async () => {
  isOver = true;
  await gate.query("SELECT pg_advisory_unlock_all()");
  await temporary.dispose();
});

/** From now on, an insert of the shard waits until the gate is opened. */
async function closeGateBefore(shard: ShardId): Promise<void> {
  const { schema } = temporary;
  await gate.query(`SELECT pg_advisory_lock(${GATE})`);
  await gate.query(`
    CREATE FUNCTION ${schema}.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END $$;
    CREATE TRIGGER gate BEFORE INSERT ON ${schema}.shards FOR EACH ROW
      WHEN (NEW.shard = '\\x${u64Bytes(shard).toString("hex")}') EXECUTE FUNCTION ${schema}.wait_at_gate()`);
}

const openGate = () => gate.query(`SELECT pg_advisory_unlock(${GATE})`);

/** Returns once so many connections wait for a lock. */
async function untilWaiting(count: number): Promise<"waiting"> {
  while (!isOver) {
    const { rows } = await gate.query<{ count: number }>(
      "SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE NOT granted",
    );
    if (rows[0]!.count >= count) break;
  }
  return "waiting";
}

function shardOf(of: TenantId, index: number, parent?: ShardId): ShardRecord {
  const start = u64Bytes(BigInt(index));
  return newShardRecord({
    tenant: of,
    key: { run: RUN, shard: ShardId.fromRaw(BigInt(index)) },
    spec: ShardSpec.withRange({ start, end: u64Bytes(BigInt(index + 1)) }),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent,
    now,
  });
}

function registration(of: TenantId, count: number, limits = WIDE): PutRunSet {
  const created = Array.from({ length: count }, (_, index) => shardOf(of, index));
  const record = newRunRecord({ tenant: of, run: RUN, config, now });
  const after = { ...record, status: "Active", rootShards: created.map(({ shard }) => shard) } as const;
  return { kind: "PutRun", tenant: of, run: RUN, guard: undefined, after, created, limits, noShardsIn: [] };
}

/** Splits the first shard of a tenant's run. */
async function split(of: TenantId, limits = WIDE, child = 1_000_000): Promise<CommitAnswer> {
  const { store } = temporary;
  const read = unwrap(await store.readShard(of, { run: RUN, shard: ShardId.fromRaw(0n) }));
  const { record: before, version: guard } = read.shard!;
  const [answer] = await store.commit([
    {
      kind: "SplitShard",
      tenant: of,
      run: RUN,
      shard: { guard, before, after: { ...before } },
      runGuard: read.run!.version,
      created: [shardOf(of, child, before.shard)],
      limits,
    },
  ]);
  return answer!;
}

const commit = async (set: PutRunSet): Promise<CommitAnswer> => (await temporary.store.commit([set]))[0]!;

async function counts(): Promise<unknown> {
  const { schema } = temporary;
  const { rows } = await pool.query(
    `SELECT (SELECT shard_count::int FROM ${schema}.totals) AS total, (SELECT sum(shard_count)::int FROM ${schema}.tenants) AS tenants,
            (SELECT sum(shard_count)::int FROM ${schema}.runs) AS runs, (SELECT count(*)::int FROM ${schema}.shards) AS shards,
            (SELECT count(*)::int FROM ${schema}.places) AS places`,
  );
  return rows[0];
}

const all = (count: number) => ({ total: count, tenants: count, runs: count, shards: count, places: count });

test("another tenant splits while a registration of 10,000 shards is in flight", async () => {
  expect(await commit(registration(tenant(2), 3))).toMatchObject({ kind: "Committed" });
  await closeGateBefore(ShardId.fromRaw(BigInt(MANY - 1)));
  const registering = commit(registration(tenant(1), MANY));
  await untilWaiting(1);

  expect(await Promise.race([split(tenant(2)), untilWaiting(2)])).toMatchObject({ kind: "Committed" });
  expect(await counts()).toEqual(all(4));
  await openGate();
  expect(await registering).toMatchObject({ kind: "Committed" });
  expect(await counts()).toEqual(all(MANY + 4));
});

test("of two registrations in flight that exceed the quota together, one is refused and leaves nothing", async () => {
  await closeGateBefore(ShardId.fromRaw(5n));
  const limits = { maxShardsPerTenant: 100, maxShardsTotal: 10 };
  const registering = [1, 2].map((number) => commit(registration(tenant(number), 6, limits)));
  await untilWaiting(2);
  await openGate();
  const answers = (await Promise.all(registering)).toSorted((a, b) => a.kind.localeCompare(b.kind));
  expect(answers).toMatchObject([
    { kind: "Committed" },
    { kind: "LimitExceeded", scope: "Global", current: 6, additional: 6, max: 10 },
  ]);
  expect(await counts()).toEqual(all(6));
});

test("a quota that is already used up refuses before anything is inserted", async () => {
  expect(await commit(registration(tenant(1), 6))).toMatchObject({ kind: "Committed" });
  await closeGateBefore(ShardId.fromRaw(5n));
  const limits = { maxShardsPerTenant: 100, maxShardsTotal: 10 };
  expect(await commit(registration(tenant(2), 6, limits))).toMatchObject({ kind: "LimitExceeded", scope: "Global" });
  await openGate();
});

test("an exceeded quota is reported before a taken id", async () => {
  expect(await commit(registration(tenant(1), 3))).toMatchObject({ kind: "Committed" });
  expect(await split(tenant(1), WIDE, 2)).toEqual({ kind: "Exists", shard: ShardId.fromRaw(2n) });
  expect(await split(tenant(1), { maxShardsPerTenant: 3, maxShardsTotal: 3 }, 2)).toMatchObject({
    kind: "LimitExceeded",
    scope: "PerTenant",
    current: 3,
  });
  expect(await counts()).toEqual(all(3));
});
