// Tables are brought up to date under shards that are there and leased. A shard whose place does not come through is claimed by nobody, and
// one that comes through twice by two.

import { raiseFamily } from "@gossip/coordination-fsck/testing";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresStore } from "./open-postgres-store.ts";
import { makeStore, startFastPostgres, type TestServer } from "./temporary-database.fixture.ts";

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

/** The places as the second version had them, by what the columns of the shards say, and one that could be none. */
const asOfVersion2 = (schema: string): string => `
CREATE TABLE ${schema}.old_places AS
  SELECT p.run_id, s.status, CASE WHEN s.status = 'Active' AND s.lease_deadline IS NOT NULL THEN s.lease_deadline ELSE '\\x0000000000000000' END AS claimable_at,
         ('x' || encode(substring(p.place FROM 10 FOR 4), 'hex'))::bit(32)::bigint AS spread, s.shard
  FROM ${schema}.places p JOIN ${schema}.shards s ON s.run_id = p.run_id AND s.shard = substring(p.place FROM 14);
INSERT INTO ${schema}.old_places SELECT run_id, status, '\\x00', spread, shard FROM ${schema}.old_places LIMIT 1;
DROP TABLE ${schema}.places;
ALTER TABLE ${schema}.old_places RENAME TO places;
ALTER TABLE ${schema}.places ADD PRIMARY KEY (run_id, status, claimable_at, spread, shard);
DELETE FROM ${schema}.migrations WHERE version > 2`;

test("places of the second version come through as they were, with the rights to them, and what could be none does not stop the rest", async () => {
  const temporary = await makeStore(pool);
  const { store, schema } = temporary;
  await raiseFamily(store, { seed: 11, steps: 40 });
  const places = async () => (await pool.query(`SELECT * FROM ${schema}.places ORDER BY run_id, place`)).rows;
  const before = await places();
  expect(before.length).toBeGreaterThan(3);
  await pool.query(`${asOfVersion2(schema)}; CREATE ROLE reader; GRANT SELECT ON ${schema}.places TO reader`);

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
