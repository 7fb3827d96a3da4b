import type { Statement } from "./statement.ts";

/** Inserts shards of one run and their claim index entries. One array per column, one element per shard. */
export const INSERT_SHARDS: Statement = {
  name: "insert_shards",
  text: (schema) => `
WITH given AS MATERIALIZED (
  SELECT *
  FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::text[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[],
              $13::bytea[])
       AS given(shard, attempts, cursor_key, record, status, park_reason, lease_owner, lease_deadline, fence, parent, key_range_start, place)
), entered AS (
  INSERT INTO ${schema}.places (run_id, place)
  SELECT $1, place FROM given WHERE place IS NOT NULL
)
INSERT INTO ${schema}.shards (run_id, shard, version, attempts, cursor_key, record, status, park_reason, lease_owner, lease_deadline, fence, parent, key_range_start)
SELECT $1, shard, 1, attempts, cursor_key, record, status, park_reason, lease_owner, lease_deadline, fence, parent, key_range_start
FROM given`,
};
