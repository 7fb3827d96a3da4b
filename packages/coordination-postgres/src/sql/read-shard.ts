import { HEAD_COLUMNS } from "./run-columns.ts";
import type { Statement } from "./statement.ts";

/** A run's head, and a shard of it if it exists. `OFFSET 0` makes the server look the shard up by its key. */
export const READ_SHARD: Statement = {
  name: "read_shard",
  text: (schema) => `
SELECT ${HEAD_COLUMNS}, s.shard, s.version AS shard_version, s.record
FROM ${schema}.runs r
LEFT JOIN LATERAL (SELECT * FROM ${schema}.shards x WHERE x.run_id = r.id AND x.shard = $3 OFFSET 0) s ON true
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
