import { HEAD_COLUMNS } from "./run-columns.ts";
import type { Statement } from "./statement.ts";

/** `read_shard` for many, with their ordinals from 1. No row if the run does not exist. */
export const READ_SHARDS: Statement = {
  name: "read_shards",
  text: (schema) => `
SELECT g.ordinal::int, ${HEAD_COLUMNS}, s.shard, s.version AS shard_version, s.record
FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS g(tenant, run, shard, ordinal)
CROSS JOIN LATERAL (SELECT * FROM ${schema}.runs x WHERE x.tenant = g.tenant AND x.run = g.run AND x.status <> 'Deleted' OFFSET 0) r
LEFT JOIN LATERAL (SELECT * FROM ${schema}.shards x WHERE x.run_id = r.id AND x.shard = g.shard OFFSET 0) s ON true`,
};
