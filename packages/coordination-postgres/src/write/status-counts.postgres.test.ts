// A status that is read from counts is wrong forever once a change was missed, or was counted twice. This version counts
// its batches itself, and triggers count what others write: a process of the version before, or one that has not noticed
// yet that the tables were migrated.
import { Cursor, LogicalTime, OpId, planSplitReplaceAtPoints, WorkerId, type ShardId } from "@gossip/contracts";
import { Coordinator, RANGE_EXHAUSTED, RunProgress, type ShardRecord } from "@gossip/coordination";
import { fsck, StatusCounts } from "@gossip/coordination-fsck";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { ManualClock } from "@gossip/coordination/testing";
import { ok, unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../open/migrate.ts";
import { migratePostgresStore, openPostgresStore } from "../open/open-postgres-store.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { dropStatusCounts, makeStore, startFastPostgres, type TemporaryStore } from "../temporary-database.fixture.ts";

const address = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const now = LogicalTime.fromRaw(1_000_000n);

let server: Awaited<ReturnType<typeof startFastPostgres>>;
let pool: Pool;
let temporary: TemporaryStore;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 8 });
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

async function listed(store: PostgresStore): Promise<readonly ShardRecord[]> {
  const query = { ...address, now, filter: {}, limit: 512, after: undefined };
  return unwrap(await store.listShards(query)).items;
}

async function stored(): Promise<StatusCounts> {
  const [row] = await sql("SELECT sum(done) AS done, sum(split) AS split, sum(parked) AS parked FROM @.status_counts");
  return { Done: Number(row?.["done"]), Split: Number(row?.["split"]), Parked: Number(row?.["parked"]) };
}

async function expectExact(store: PostgresStore): Promise<void> {
  const shards = await listed(store);
  expect(await stored()).toEqual(StatusCounts.of(shards));
  expect(await store.readProgress({ ...address, now })).toEqual(ok(RunProgress.of(shards, now)));
  expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
}

/** A key that a session can reach, between its cursor and the end of its range. */
const reach = ({ cursor, spec }: Pick<ShardRecord, "cursor" | "spec">, byte: number): Uint8Array =>
  Uint8Array.from([...(cursor.lastKey ?? spec.keyRangeStart), byte]);

/** Releases with progress, parks, unparks, completes and splits. */
async function work(store: PostgresStore, round: bigint): Promise<void> {
  const clock = new ManualClock(now + round);
  let last = round * 1000n;
  const coordinator = new Coordinator({ store, clock, newOpId: () => OpId.fromRaw(++last) });
  const claim = async () => unwrap(await coordinator.claim({ ...address, worker: WorkerId.fromRaw(3n) }));
  const released = await claim();
  unwrap(await released.checkpoint(Cursor.withLastKey(reach(released, 1))));
  unwrap(await released.release());
  const parked = await claim();
  unwrap(await parked.park("Poisoned", { detail: { attempts: 1, error: "no" } }));
  unwrap(await coordinator.unpark({ tenant: address.tenant, key: parked.shardKey, opId: OpId.fromRaw(++last) }));
  const another = await claim();
  unwrap(await another.park("Poisoned"));
  const split = await claim();
  unwrap(
    await split.splitReplace(
      unwrap(planSplitReplaceAtPoints(split.spec, split.cursor, [reach(split, 250 - Number(round))])),
    ),
  );
  unwrap(await (await claim()).complete(RANGE_EXHAUSTED));
}

test("the counts are exact after all that happens to a family", async () => {
  await raiseFamily(temporary.store, { seed: 11, steps: 60 });
  await expectExact(temporary.store);
  await work(temporary.store, 1n);
  await expectExact(temporary.store);
});

test("a process that does not count is counted by triggers, and one that does is not counted twice", async () => {
  const { schema } = temporary;
  await sql(`${dropStatusCounts("@")}; DELETE FROM @.migrations WHERE version > 5`);
  const older = unwrap(await openPostgresStore({ pool, schema, migrate: false }));
  await raiseFamily(older, { seed: 11, steps: 30 });
  const before = await listed(older);
  expect(await older.readProgress({ ...address, now })).toEqual(ok(RunProgress.of(before, now)));

  expect(unwrap(await migratePostgresStore({ pool, schema }))).toMatchObject({ from: 5, to: SCHEMA_VERSION });
  const newer = unwrap(await openPostgresStore({ pool, schema }));
  await expectExact(newer);
  for (const round of [1n, 2n, 3n]) {
    // As long as it reads no status, it does not notice the migration.
    await work(older, 2n * round);
    expect(await stored()).toEqual(StatusCounts.of(await listed(newer)));
    await work(newer, 2n * round + 1n);
    expect(await stored()).toEqual(StatusCounts.of(await listed(newer)));
  }
  await expectExact(newer);
  await expectExact(older);
  await older.close();
  await newer.close();
});

test("a statement that counts does not stop triggers from counting the next one of its session", async () => {
  const single = new Pool({ connectionString: server.url, max: 1 });
  const store = unwrap(await openPostgresStore({ pool: single, schema: temporary.schema }));
  await raiseFamily(store, { seed: 11, steps: 12 });
  const active = (await listed(store)).filter(({ status }) => status === "Active");
  const done = async (shard: ShardId): Promise<string> => {
    const read = unwrap(await store.readShard(address.tenant, { run: address.run, shard })).shard!;
    const after = { ...read.record, status: "Done" as const, lease: undefined };
    const write = { guard: read.version, before: read.record, after };
    const set = { kind: "UpdateShard", ...address, shard: write, runGuard: undefined, hintAt: undefined } as const;
    return (await store.commit([set]))[0]!.kind;
  };
  expect(await done(active[0]!.shard)).toBe("Committed");
  const other = "(SELECT min(encode(shard, 'hex')) FROM @.shards WHERE status = 'Active')";
  await single.query(
    `UPDATE @.shards SET status = 'Parked' WHERE encode(shard, 'hex') = ${other}`.replaceAll("@", temporary.schema),
  );
  const [counted] = await sql("SELECT count(*)::int AS parked FROM @.shards WHERE status = 'Parked'");
  expect((await stored()).Parked).toBe(counted?.["parked"]);
  await store.close();
  await single.end();
});

test("a migration counts what is there", async () => {
  const { schema, store } = temporary;
  await raiseFamily(store, { seed: 11, steps: 60 });
  await work(store, 1n);
  const before = await sql("SELECT * FROM @.resting ORDER BY shard");
  expect(before.length).toBeGreaterThan(0);
  await sql(`${dropStatusCounts("@")}; DELETE FROM @.migrations WHERE version > 5`);
  unwrap(await migratePostgresStore({ pool, schema }));
  expect(await sql("SELECT * FROM @.resting ORDER BY shard")).toEqual(before);
  await expectExact(store);
});

test("nothing is left of a removed run", async () => {
  const { store } = temporary;
  await raiseFamily(store, { seed: 11, steps: 40 });
  const run = unwrap(await store.readRun(address.tenant, address.run));
  if (run.kind !== "Found") throw new Error("the run is there");
  await store.commit([{ kind: "RemoveRun", ...address, guard: run.version }]);
  expect(await sql("SELECT run_id FROM @.status_counts UNION ALL SELECT run_id FROM @.resting")).toEqual([]);
  expect(await store.readProgress({ ...address, now })).toEqual(ok(RunProgress.NONE));
});

test("a checkpoint fires no trigger", async () => {
  await raiseFamily(temporary.store, { seed: 11, steps: 20 });
  const plan = await sql(
    "EXPLAIN (ANALYZE, FORMAT TEXT) UPDATE @.shards SET version = version + 1, attempts = 1, cursor_key = '\\x01', record = record WHERE status = 'Active'",
  );
  expect(JSON.stringify(plan)).not.toContain("Trigger");
  const changing = await sql(
    "EXPLAIN (ANALYZE, FORMAT TEXT) UPDATE @.shards SET status = 'Done' WHERE status = 'Active'",
  );
  expect(JSON.stringify(changing)).toContain("Trigger count_status");
});
