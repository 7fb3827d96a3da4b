import type { Statement } from "./statement.ts";

/**
 * The states of a run's shards, counted from the partial indexes: what is in none of them is done, and is not looked at.
 * Only the least cursor makes it look at the active shards themselves.
 */
export const READ_PROGRESS: Statement = {
  name: "read_progress",
  text: (schema) => `
SELECT r.shard_count AS total,
  (SELECT count(*) FROM ${schema}.shards s WHERE s.run_id = r.id AND s.status = 'Active') AS active,
  (SELECT count(*) FROM ${schema}.shards s WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at > $3) AS leased,
  (SELECT count(*) FROM ${schema}.shards s WHERE s.run_id = r.id AND s.status = 'Split') AS split,
  (SELECT count(*) FROM ${schema}.shards s WHERE s.run_id = r.id AND s.status = 'Parked') AS parked,
  (SELECT s.cursor_key FROM ${schema}.shards s
   WHERE s.run_id = r.id AND s.status = 'Active' AND s.cursor_key IS NOT NULL
   ORDER BY s.cursor_key LIMIT 1) AS watermark
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
