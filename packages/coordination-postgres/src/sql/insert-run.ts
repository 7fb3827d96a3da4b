import type { Statement } from "./statement.ts";

/** A run under an id that was never used, and the place of its tenant's count. Nothing where the id is taken, be it by a mark. */
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
