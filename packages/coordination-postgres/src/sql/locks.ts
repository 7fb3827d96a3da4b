import type { Statement } from "./statement.ts";

/** Locks a run before it or its shard count is written. Waits for updates that have a guard on the run. */
export const LOCK_RUN: Statement = {
  name: "lock_run",
  text: (schema) => `
SELECT id, version, status, shard_count
FROM ${schema}.runs
WHERE tenant = $1 AND run = $2
FOR NO KEY UPDATE`,
};

export const LOCK_SHARD: Statement = {
  name: "lock_shard",
  text: (schema) => `
SELECT version
FROM ${schema}.shards
WHERE run_id = $1 AND shard = $2
FOR UPDATE`,
};

/** Serializes every change of how many shards exist, of all tenants. Take it last and commit at once. */
export const LOCK_TOTALS: Statement = {
  name: "lock_totals",
  text: (schema) => `SELECT FROM ${schema}.totals FOR UPDATE`,
};
