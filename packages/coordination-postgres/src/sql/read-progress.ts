import { ACTIVE_FROM, ACTIVE_TO, PARKED_FROM, PARKED_TO, SHARD, SPLIT_FROM, SPLIT_TO } from "./claim-index-bytes.ts";
import type { Statement } from "./statement.ts";

/**
 * The states of a run's shards, counted in the claim index; a shard without an entry is done. Only the watermark reads the active shards
 * themselves. `$3`: the last claimable entry.
 */
export const READ_PROGRESS: Statement = {
  name: "read_progress",
  text: (schema) => `
SELECT r.shard_count AS total,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${ACTIVE_FROM} AND p.place < ${ACTIVE_TO}) AS active,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place > $3 AND p.place < ${ACTIVE_TO}) AS leased,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${SPLIT_FROM} AND p.place < ${SPLIT_TO}) AS split,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${PARKED_FROM} AND p.place < ${PARKED_TO}) AS parked,
  (SELECT s.cursor_key
   FROM ${schema}.places p
   CROSS JOIN LATERAL (SELECT x.cursor_key FROM ${schema}.shards x WHERE x.run_id = p.run_id AND x.shard = ${SHARD} OFFSET 0) s
   WHERE p.run_id = r.id AND p.place >= ${ACTIVE_FROM} AND p.place < ${ACTIVE_TO} AND s.cursor_key IS NOT NULL
   ORDER BY s.cursor_key LIMIT 1) AS watermark
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
