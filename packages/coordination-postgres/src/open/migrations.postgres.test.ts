// A migration runs on tables with live shards. A shard whose claim index entry is lost is never claimed again, and one that has two
// is claimed twice. A migration that starts by itself under processes of an older version breaks them.

import { raiseFamily } from "@gossip/coordination-fsck/testing";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCHEMA_VERSION } from "./migrate.ts";
import { migratePostgresStore, openPostgresStore } from "./open-postgres-store.ts";
import { dropStatusCounts, makeStore, startFastPostgres, type TestServer } from "../temporary-database.fixture.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 2 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

/** The tables as the second version had them, and one claim index entry that is impossible. */
const asOfVersion2 = (schema: string): string => `${dropStatusCounts(schema)}
DROP TABLE ${schema}.notes CASCADE;
DROP FUNCTION ${schema}.time_of, ${schema}.json_of CASCADE;
DROP TABLE ${schema}.censuses;
CREATE TABLE ${schema}.old_places AS
  SELECT p.run_id, s.status, CASE WHEN s.status = 'Active' AND s.lease_deadline IS NOT NULL THEN s.lease_deadline ELSE '\\x0000000000000000' END AS claimable_at,
         ('x' || encode(substring(p.place FROM 10 FOR 4), 'hex'))::bit(32)::bigint AS spread, s.shard
  FROM ${schema}.places p JOIN ${schema}.shards s ON s.run_id = p.run_id AND s.shard = substring(p.place FROM 14);
INSERT INTO ${schema}.old_places SELECT run_id, status, '\\x00', spread, shard FROM ${schema}.old_places LIMIT 1;
DROP TABLE ${schema}.places;
ALTER TABLE ${schema}.old_places RENAME TO places;
ALTER TABLE ${schema}.places ADD PRIMARY KEY (run_id, status, claimable_at, spread, shard);
DELETE FROM ${schema}.migrations WHERE version > 2`;

test("claim index entries of the second version are kept, with the rights to them, and an impossible one does not stop the rest", async () => {
  const temporary = await makeStore(pool);
  const { store, schema } = temporary;
  await raiseFamily(store, { seed: 11, steps: 40 });
  const places = async () => (await pool.query(`SELECT * FROM ${schema}.places ORDER BY run_id, place`)).rows;
  const before = await places();
  expect(before.length).toBeGreaterThan(3);
  await pool.query(`${asOfVersion2(schema)}; CREATE ROLE reader; GRANT SELECT ON ${schema}.places TO reader`);

  expect(unwrap(await migratePostgresStore({ pool, schema }))).toMatchObject({ from: 2, to: SCHEMA_VERSION });
  const migrated = unwrap(await openPostgresStore({ pool, schema }));
  expect(await places()).toEqual(before);
  expect(unwrap(await fsck(migrated.inspect())).findings).toEqual([]);
  expect(
    (await pool.query("SELECT has_table_privilege('reader', $1, 'SELECT') AS may", [`${schema}.places`])).rows,
  ).toEqual([{ may: true }]);
  await pool.query(`REVOKE ALL ON ${schema}.places FROM reader; DROP ROLE reader`);
  await migrated.close();
  await temporary.dispose();
});

describe("other connected sessions", () => {
  let url: string;
  let name: string;
  let databases = 0;

  beforeEach(async () => {
    name = `migrated_${++databases}`;
    await pool.query(`CREATE DATABASE ${name}`);
    const at = new URL(server.url);
    at.pathname = `/${name}`;
    url = at.href;
  });

  /** Returns once so many sessions of the database are left. */
  async function untilSessions(count: number): Promise<void> {
    const text = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1 AND usesysid IS NOT NULL";
    while ((await pool.query<{ count: number }>(text, [name])).rows[0]!.count !== count);
  }

  /** Runs SQL in a session of its own, as a process of an older release would: nothing marks it. */
  async function sql<Row extends object>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  const tableVersion = async () =>
    (await sql<{ version: number }>("SELECT max(version) AS version FROM gossip.migrations"))[0]!.version;

  /** A store with shards, whose tables are then those of the second version. */
  async function makeOldStore(): Promise<void> {
    const store = unwrap(await openPostgresStore({ url }));
    await raiseFamily(store, { seed: 11, steps: 10 });
    await store.close();
    await sql(asOfVersion2("gossip"));
    await untilSessions(0);
  }

  test("no other session: opening migrates", async () => {
    await makeOldStore();
    await unwrap(await openPostgresStore({ url })).close();
    expect(await tableVersion()).toBe(SCHEMA_VERSION);
  });

  test("only processes of this version: opening migrates", async () => {
    const other = unwrap(await openPostgresStore({ url, maxConnections: 1 }));
    await raiseFamily(other, { seed: 11, steps: 10 });
    await sql(asOfVersion2("gossip"));
    await untilSessions(1);
    await unwrap(await openPostgresStore({ url })).close();
    expect(await tableVersion()).toBe(SCHEMA_VERSION);
    await other.close();
  });

  test("a process of this version with a custom name, recognized by its mark: opening migrates", async () => {
    const named = new URL(url);
    named.searchParams.set("application_name", "backfill");
    const other = unwrap(await openPostgresStore({ url: named.href, maxConnections: 1 }));
    await raiseFamily(other, { seed: 11, steps: 10 });
    await sql(asOfVersion2("gossip"));
    await untilSessions(1);
    await unwrap(await openPostgresStore({ url })).close();
    expect(await tableVersion()).toBe(SCHEMA_VERSION);
    await other.close();
  });

  test.each(["", "gossip 0.1.0 tables 2", "gossip"])(
    "a session that may be of another version, named %o: opening is refused until an operator migrates",
    async (applicationName) => {
      await makeOldStore();
      const older = new Client({ connectionString: url, application_name: applicationName });
      await older.connect();
      expect(await openPostgresStore({ url })).toEqual({
        ok: false,
        error: { kind: "MigrationUnsafe", found: 2, supported: SCHEMA_VERSION, otherSessions: 1 },
      });
      expect((await older.query("SELECT max(version) AS version FROM gossip.migrations")).rows).toEqual([
        { version: 2 },
      ]);
      expect(unwrap(await migratePostgresStore({ url }))).toEqual({ from: 2, to: SCHEMA_VERSION, otherSessions: 1 });
      await unwrap(await openPostgresStore({ url })).close();
      await older.end();
    },
  );

  test("a session of another version, and no run is there: opening migrates", async () => {
    await unwrap(await openPostgresStore({ url })).close();
    const older = new Client({ connectionString: url });
    await older.connect();
    await older.query(asOfVersion2("gossip"));
    await unwrap(await openPostgresStore({ url })).close();
    expect(await tableVersion()).toBe(SCHEMA_VERSION);
    await older.end();
  });

  test("current tables are left alone, also by an operator", async () => {
    await unwrap(await openPostgresStore({ url })).close();
    expect(unwrap(await migratePostgresStore({ url }))).toEqual({
      from: SCHEMA_VERSION,
      to: SCHEMA_VERSION,
      otherSessions: 0,
    });
  });
});
