import { HEAD_COLUMNS } from "./run-columns.ts";
import type { Statement } from "./statement.ts";

/** A run's head, and a shard of it where there is one. */
export const READ_SHARD: Statement = {
  name: "read_shard",
  text: (schema) => `
SELECT ${HEAD_COLUMNS}, s.shard, s.version AS shard_version, s.record
FROM ${schema}.runs r
LEFT JOIN ${schema}.shards s ON s.run_id = r.id AND s.shard = $3
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
