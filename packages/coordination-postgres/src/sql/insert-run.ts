import type { Statement } from "./statement.ts";

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
