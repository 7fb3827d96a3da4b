import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { unwrap } from "@gossip/stdx";
import type { Pool } from "pg";
import { openPostgresStore, type PostgresStoreOptions } from "./open/open-postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let lastSchema = 0;

/** A schema that no other test of this process uses. */
export function newSchema(): string {
  return `test_${++lastSchema}`;
}

/** A server for tests. Set `GOSSIP_POSTGRES_URL` to test another version of PostgreSQL. */
export type TestServer = Pick<PostgresServer, "url" | "dispose">;

/** A server that does not wait for the disk, for tests without crashes. */
export async function startFastPostgres(): Promise<TestServer> {
  const url = process.env["GOSSIP_POSTGRES_URL"];
  if (url !== undefined) return { url, dispose: async () => undefined };
  return startPostgres({
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" },
  });
}

export interface TemporaryStore {
  readonly store: PostgresStore;
  readonly schema: string;
  dispose(): Promise<void>;
}

/** In an order in which rows can be inserted: those that others refer to come first. */
const TABLES = ["runs", "shards", "places", "tenants", "starved", "censuses", "notes", "status_counts", "resting"];

/** The rest of a transaction fires no triggers: rows are changed as a bad disk would. */
export const WITHOUT_TRIGGERS = "SET LOCAL session_replication_role = replica";

/** Makes tables those of the version before status counts, but for the number of the version. */
export const dropStatusCounts = (schema: string): string => `
DROP TABLE ${schema}.status_counts, ${schema}.resting;
DROP FUNCTION ${schema}.count_status, ${schema}.note_resting, ${schema}.count_added, ${schema}.remove_counts CASCADE;
`;

/** An empty store in a schema that is emptied and used again: creating the tables takes longer than a test. */
export async function makeEmptiedStore(pool: Pool, schema = "emptied"): Promise<TemporaryStore> {
  const store = unwrap(await openPostgresStore({ pool, schema }));
  await pool.query([...emptied(schema), `UPDATE ${schema}.totals SET shard_count = 0`].join("; "));
  return { store, schema, dispose: () => store.close() };
}

/** A store in a schema that is emptied and filled with the rows of another one, which is much faster than writing them. */
export async function makeCopiedStore(pool: Pool, from: string, schema = "copied"): Promise<TemporaryStore> {
  const store = unwrap(await openPostgresStore({ pool, schema }));
  const copied = [...TABLES, "totals"].map(
    (table) => `INSERT INTO ${schema}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${from}.${table}`,
  );
  const emptying = [...emptied(schema), `DELETE FROM ${schema}.totals`];
  await pool.query([WITHOUT_TRIGGERS, ...emptying, ...copied].join("; "));
  return { store, schema, dispose: () => store.close() };
}

function emptied(schema: string): string[] {
  return TABLES.toReversed().map((table) => `DELETE FROM ${schema}.${table}`);
}

/** An empty store in its own schema. */
export async function makeStore(pool: Pool, options: Partial<PostgresStoreOptions> = {}): Promise<TemporaryStore> {
  const schema = newSchema();
  const store = unwrap(await openPostgresStore({ pool, schema, ...options }));
  const dispose = async () => {
    await store.close();
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
  };
  return { store, schema, dispose };
}
