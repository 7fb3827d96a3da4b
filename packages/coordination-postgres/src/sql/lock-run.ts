import type { Statement } from "./statement.ts";

/** Locks a run before it or its shard count is written. Waits for updates that have a guard on the run. */
export const LOCK_RUN: Statement = {
  name: "lock_run",
  text: (schema) => `
SELECT id, version, status, shard_count
FROM ${schema}.runs
WHERE tenant = $1 AND run = $2
FOR NO KEY UPDATE`,
};
