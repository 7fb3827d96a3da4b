import type { Statement } from "./statement.ts";

/** The columns of a run that every read of a shard needs. Not its record, which holds the ids of all its first shards. */
export const HEAD_COLUMNS = "r.id, r.version, r.status, r.cursor_semantics, r.lease_duration, r.max_shard_retries";

/** A run's head, and a shard of it if it exists. `OFFSET 0` makes the server look the shard up by its key. */
export const READ_SHARD: Statement = {
  name: "read_shard",
  text: (schema) => `
SELECT ${HEAD_COLUMNS}, s.shard, s.version AS shard_version, s.record
FROM ${schema}.runs r
LEFT JOIN LATERAL (SELECT * FROM ${schema}.shards x WHERE x.run_id = r.id AND x.shard = $3 OFFSET 0) s ON true
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};

/** `read_shard` for many, with their ordinals from 1. No row if the run does not exist. */
export const READ_SHARDS: Statement = {
  name: "read_shards",
  text: (schema) => `
SELECT g.ordinal::int, ${HEAD_COLUMNS}, s.shard, s.version AS shard_version, s.record
FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS g(tenant, run, shard, ordinal)
CROSS JOIN LATERAL (SELECT * FROM ${schema}.runs x WHERE x.tenant = g.tenant AND x.run = g.run AND x.status <> 'Deleted' OFFSET 0) r
LEFT JOIN LATERAL (SELECT * FROM ${schema}.shards x WHERE x.run_id = r.id AND x.shard = g.shard OFFSET 0) s ON true`,
};
