import type { Statement } from "./statement.ts";

/** New shards of one run. `$1` holds the bytes of all rows, laid out by `ShardPack`; the arrays have one element a row. */
export const INSERT_SHARDS: Statement = {
  name: "insert_shards",
  text: (schema) => `
INSERT INTO ${schema}.shards (run_id, shard, version, status, park_reason, lease_owner, lease_deadline, spread, fence, attempts, parent, key_range_start, cursor_key, record)
SELECT $2, substring($1::bytea FROM place FOR 8), 1, status, park_reason,
       CASE WHEN has_lease THEN substring($1::bytea FROM place + 8 FOR 8) END,
       CASE WHEN has_lease THEN substring($1::bytea FROM place + 16 FOR 8) END,
       spread,
       substring($1::bytea FROM place + 24 FOR 8),
       attempts, parent,
       substring($1::bytea FROM place + 32 + record_size + coalesce(key_size, 0) FOR start_size),
       substring($1::bytea FROM place + 32 + record_size FOR key_size),
       substring($1::bytea FROM place + 32 FOR record_size)
FROM unnest($3::text[], $4::text[], $5::boolean[], $6::bigint[], $7::int[], $8::int[], $9::int[], $10::int[], $11::bigint[], $12::bytea[])
     AS given(status, park_reason, has_lease, attempts, place, record_size, key_size, start_size, spread, parent)`,
};
