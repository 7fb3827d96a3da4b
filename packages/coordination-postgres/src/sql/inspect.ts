import type { Statement } from "./statement.ts";

/** One snapshot for all reads, and no plan that avoids an index: a row that an index has lost must not be found another way. */
export const BEGIN_INSPECTION = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
export const READ_THROUGH_INDEXES =
  "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off";

const RUN_COLUMNS = "id, tenant, run, status, cursor_semantics, lease_duration, max_shard_retries, shard_count, record";

/** Runs after a given one, with every column that is made from the record. */
export const INSPECT_RUNS: Statement = {
  name: "inspect_runs",
  text: (schema) => `
SELECT ${RUN_COLUMNS}
FROM ${schema}.runs
WHERE (tenant, run) > ($1::bytea, $2::bytea)
ORDER BY tenant, run
LIMIT $3`,
};

export const LOCK_INSPECTED_RUN: Statement = {
  name: "lock_inspected_run",
  text: (schema) => `SELECT ${RUN_COLUMNS} FROM ${schema}.runs WHERE id = $1 FOR NO KEY UPDATE`,
};

/** Numbers of runs that shards or claim index entries refer to and that do not exist. */
export const INSPECT_LOST_RUNS: Statement = {
  name: "inspect_lost_runs",
  text: (schema) => `
SELECT DISTINCT lost.run_id AS id
FROM (SELECT run_id FROM ${schema}.shards UNION ALL SELECT run_id FROM ${schema}.places) lost
WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = lost.run_id)`,
};

const inspectShards = (name: string, lock: string): Statement => ({
  name,
  text: (schema) => `
SELECT ctid::text AS tid, shard, attempts, status, key_range_start, fence, lease_owner, lease_deadline, parent, park_reason, cursor_key, record
FROM ${schema}.shards
WHERE run_id = $1 AND shard > $2::bytea
ORDER BY shard
LIMIT $3${lock}`,
});

/** Shards of a run after a given one, with every column that is made from the record. */
export const INSPECT_SHARDS: Statement = inspectShards("inspect_shards", "");
export const LOCK_SHARDS: Statement = inspectShards("lock_shards", "\nFOR UPDATE");

/** The ordinals of listed shards that a lookup by key does not find, or finds in another row. One lookup each. */
export const FIND_LOST_SHARDS: Statement = {
  name: "find_lost_shards",
  text: (schema) => `
SELECT g.ordinal::int
FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS g(shard, tid, ordinal)
LEFT JOIN LATERAL (SELECT x.ctid::text AS tid FROM ${schema}.shards x WHERE x.run_id = $1 AND x.shard = g.shard OFFSET 0) s ON true
WHERE s.tid IS DISTINCT FROM g.tid`,
};

/** The same for listed claim index entries. */
export const FIND_LOST_ENTRIES: Statement = {
  name: "find_lost_places",
  text: (schema) => `
SELECT g.ordinal::int
FROM unnest($2::bytea[]) WITH ORDINALITY AS g(place, ordinal)
LEFT JOIN LATERAL (SELECT true AS is_there FROM ${schema}.places x WHERE x.run_id = $1 AND x.place = g.place OFFSET 0) p ON true
WHERE p.is_there IS NULL`,
};

/** Claim index entries of a run after a given one. */
export const INSPECT_ENTRIES: Statement = {
  name: "inspect_places",
  text: (schema) => `
SELECT place
FROM ${schema}.places
WHERE run_id = $1 AND place > $2::bytea
ORDER BY place
LIMIT $3`,
};

/** The shards of a run in the index of their order. The sort order makes the server read that index and no other. */
export const INSPECT_ORDER: Statement = {
  name: "inspect_order",
  text: (schema) =>
    `SELECT shard FROM ${schema}.shards WHERE run_id + 0 = $1 ORDER BY substring(key_range_start FROM 1 FOR 512)`,
};

export const INSPECT_TENANTS: Statement = {
  name: "inspect_tenants",
  text: (schema) => `SELECT tenant, shard_count FROM ${schema}.tenants`,
};

export const INSPECT_TOTALS: Statement = {
  name: "inspect_totals",
  text: (schema) => `SELECT shard_count FROM ${schema}.totals`,
};
