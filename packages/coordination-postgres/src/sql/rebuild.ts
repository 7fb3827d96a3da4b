import type { Statement } from "./statement.ts";

/** Rewrites the columns of a shard. Its record and version stay. */
export const REBUILD_SHARD: Statement = {
  name: "rebuild_shard",
  text: (schema) => `
UPDATE ${schema}.shards
SET attempts = $3, status = $4, key_range_start = $5, fence = $6, lease_owner = $7, lease_deadline = $8, parent = $9, park_reason = $10, cursor_key = $11
WHERE run_id = $1 AND shard = $2`,
};

export const REMOVE_ENTRY: Statement = {
  name: "remove_place",
  text: (schema) => `DELETE FROM ${schema}.places WHERE run_id = $1 AND place = $2`,
};

export const ADD_ENTRY: Statement = {
  name: "add_place",
  text: (schema) => `INSERT INTO ${schema}.places (run_id, place) VALUES ($1, $2)`,
};

/** Removes the claim index entries of runs that do not exist. */
export const REMOVE_LOST_ENTRIES: Statement = {
  name: "remove_lost_places",
  text: (schema) =>
    `DELETE FROM ${schema}.places p WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = p.run_id) RETURNING p.run_id`,
};

export const REBUILD_RUN: Statement = {
  name: "rebuild_run",
  text: (schema) => `
UPDATE ${schema}.runs
SET status = $2, cursor_semantics = $3, lease_duration = $4, max_shard_retries = $5
WHERE id = $1`,
};

/** The count of a run, which is locked, corrected where it is wrong. */
export const RECOUNT_RUN: Statement = {
  name: "recount_run",
  text: (schema) =>
    `UPDATE ${schema}.runs SET shard_count = $2::bigint WHERE id = $1 AND shard_count <> $2::bigint RETURNING id`,
};

// Counts that are summed from those of the runs, corrected where they are wrong. The totals are locked.

export const RECOUNT_TENANTS: Statement = {
  name: "recount_tenants",
  text: (schema) => `
INSERT INTO ${schema}.tenants AS t (tenant, shard_count)
SELECT tenant, sum(shards)
FROM (SELECT tenant, shard_count AS shards FROM ${schema}.runs UNION ALL SELECT tenant, 0 FROM ${schema}.tenants) each
GROUP BY tenant
ON CONFLICT (tenant) DO UPDATE SET shard_count = excluded.shard_count WHERE t.shard_count <> excluded.shard_count
RETURNING t.tenant`,
};

export const RECOUNT_TOTALS: Statement = {
  name: "recount_totals",
  text: (schema) => `
WITH counted AS (SELECT count(*) AS shards FROM ${schema}.shards)
UPDATE ${schema}.totals t SET shard_count = counted.shards FROM counted WHERE t.shard_count <> counted.shards
RETURNING t.shard_count`,
};

/** Makes the server rebuild its indexes from the rows. Blocks writers meanwhile. */
export const reindex = (schema: string): string => `REINDEX TABLE ${schema}.shards`;
