import type { Statement } from "./statement.ts";

/** Before a run, or how many shards it has, is written. It waits for updates that hold only while the run stays as it is. */
export const LOCK_RUN: Statement = {
  name: "lock_run",
  text: (schema) => `
SELECT id, version, status, shard_count
FROM ${schema}.runs
WHERE tenant = $1 AND run = $2
FOR NO KEY UPDATE`,
};
