import type { Statement } from "./statement.ts";

export const LOCK_SHARD: Statement = {
  name: "lock_shard",
  text: (schema) => `
SELECT version
FROM ${schema}.shards
WHERE run_id = $1 AND shard = $2
FOR UPDATE`,
};
