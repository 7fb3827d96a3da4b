import type { Statement } from "./statement.ts";

export const READ_RUN: Statement = {
  name: "read_run",
  text: (schema) => `
SELECT id, version, status, record
FROM ${schema}.runs
WHERE tenant = $1 AND run = $2`,
};

export const LIST_RUNS: Statement = {
  name: "list_runs",
  text: (schema) => `
SELECT run, record
FROM ${schema}.runs
WHERE tenant = $1 AND status <> 'Deleted' AND run > coalesce($2::bytea, '')
ORDER BY run
LIMIT $3`,
};

export const LIST_TENANTS: Statement = {
  name: "list_tenants",
  text: (schema) => `
SELECT t.tenant
FROM ${schema}.tenants t
WHERE t.tenant > coalesce($1::bytea, '')
  AND EXISTS (SELECT FROM ${schema}.runs r WHERE r.tenant = t.tenant AND r.status <> 'Deleted')
ORDER BY t.tenant
LIMIT $2`,
};

/** Inserts a run, and its tenant's count if missing. Inserts no run if the id was ever used, even by a deleted run. */
export const INSERT_RUN: Statement = {
  name: "insert_run",
  text: (schema) => `
WITH counted AS (
  INSERT INTO ${schema}.tenants (tenant, shard_count) VALUES ($1, 0) ON CONFLICT (tenant) DO NOTHING
)
INSERT INTO ${schema}.runs (tenant, run, version, status, cursor_semantics, lease_duration, max_shard_retries, shard_count, record)
VALUES ($1, $2, 1, $3, $4, $5, $6, 0, $7)
ON CONFLICT (tenant, run) DO NOTHING
RETURNING id, version`,
};

export const UPDATE_RUN: Statement = {
  name: "update_run",
  text: (schema) => `
UPDATE ${schema}.runs
SET version = version + 1, status = $2, cursor_semantics = $3, lease_duration = $4, max_shard_retries = $5, record = $6
WHERE id = $1
RETURNING version`,
};

/**
 * Removes a run's shards and marks the run as deleted. Its row is locked.
 *
 * One statement: a hundred thousand shards take the server 0.2 s, and only writers of the same run wait.
 */
export const REMOVE_RUN: Statement = {
  name: "remove_run",
  text: (schema) => `
WITH gone AS (DELETE FROM ${schema}.shards WHERE run_id = $1),
     places AS (DELETE FROM ${schema}.places WHERE run_id = $1),
     quiet AS (DELETE FROM ${schema}.starved WHERE run_id = $1)
UPDATE ${schema}.runs
SET version = version + 1, status = 'Deleted', record = $2
WHERE id = $1
RETURNING version`,
};

/** Whether a run has a shard in one of the given states. `$2`: the first bytes of their claim index entries; `$3`: whether to look for finished shards, which have no entry. */
export const HAS_SHARD_IN: Statement = {
  name: "has_shard_in",
  text: (schema) => `
SELECT EXISTS (
  SELECT FROM unnest($2::bytea[]) AS wanted(letter)
  WHERE EXISTS (SELECT FROM ${schema}.places WHERE run_id = $1 AND place >= letter AND place < set_byte(letter, 0, get_byte(letter, 0) + 1))
) OR $3 AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Done') AS found`,
};

/** A mark only moves forward, and only an existing run gets one. */
export const MARK_STARVED: Statement = {
  name: "mark_starved",
  text: (schema) => `
INSERT INTO ${schema}.starved AS w (run_id, until)
SELECT r.id, $3 FROM ${schema}.runs r WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'
ON CONFLICT (run_id) DO UPDATE SET until = excluded.until WHERE w.until < excluded.until`,
};
