import type { Statement } from "./statement.ts";

/**
 * The states of a run's shards, counted from their places: what has none is done, and is not looked at.
 * Only the least cursor makes it look at the active shards themselves.
 */
export const READ_PROGRESS: Statement = {
  name: "read_progress",
  text: (schema) => `
SELECT r.shard_count AS total,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.status = 'Active') AS active,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.status = 'Active' AND p.claimable_at > $3) AS leased,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.status = 'Split') AS split,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.status = 'Parked') AS parked,
  (SELECT s.cursor_key
   FROM ${schema}.places p
   CROSS JOIN LATERAL (SELECT x.cursor_key FROM ${schema}.shards x WHERE x.run_id = p.run_id AND x.shard = p.shard OFFSET 0) s
   WHERE p.run_id = r.id AND p.status = 'Active' AND s.cursor_key IS NOT NULL
   ORDER BY s.cursor_key LIMIT 1) AS watermark
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
