import {
  ACTIVE_FROM,
  ACTIVE_TO,
  FREE_TO,
  PARKED_FROM,
  PARKED_TO,
  SHARD,
  SPLIT_FROM,
  SPLIT_TO,
} from "./claim-index-bytes.ts";
import type { Statement } from "./statement.ts";

const leased = (schema: string): string =>
  `(SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place > $3 AND p.place < ${ACTIVE_TO}) AS leased`;

const OF_RUN = "r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'";

/**
 * The states of a run's shards, from the status counts. Only the leases are counted, and only the shards that are held or rest are read, for
 * the watermark. `$3`: the last claimable entry.
 */
export const READ_PROGRESS: Statement = {
  name: "read_progress",
  text: (schema) => `
SELECT r.shard_count AS total, r.shard_count - c.done - c.split - c.parked AS active, c.split, c.parked,
  ${leased(schema)},
  (SELECT s.cursor_key
   FROM (
     SELECT ${SHARD} AS shard FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${FREE_TO} AND p.place < ${ACTIVE_TO}
     UNION ALL
     SELECT t.shard FROM ${schema}.resting t WHERE t.run_id = r.id
   ) begun
   CROSS JOIN LATERAL (SELECT x.cursor_key FROM ${schema}.shards x WHERE x.run_id = r.id AND x.shard = begun.shard OFFSET 0) s
   WHERE s.cursor_key IS NOT NULL
   ORDER BY s.cursor_key LIMIT 1) AS watermark
FROM ${schema}.runs r
CROSS JOIN LATERAL (
  SELECT coalesce(sum(done), 0) AS done, coalesce(sum(split), 0) AS split, coalesce(sum(parked), 0) AS parked
  FROM ${schema}.status_counts WHERE run_id = r.id
) c
WHERE ${OF_RUN}`,
};

/** The same in tables without status counts: the shards are counted in the claim index; one without an entry is done. */
export const COUNT_PROGRESS: Statement = {
  name: "count_progress",
  text: (schema) => `
SELECT r.shard_count AS total,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${ACTIVE_FROM} AND p.place < ${ACTIVE_TO}) AS active,
  ${leased(schema)},
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${SPLIT_FROM} AND p.place < ${SPLIT_TO}) AS split,
  (SELECT count(*) FROM ${schema}.places p WHERE p.run_id = r.id AND p.place >= ${PARKED_FROM} AND p.place < ${PARKED_TO}) AS parked,
  (SELECT s.cursor_key
   FROM ${schema}.places p
   CROSS JOIN LATERAL (SELECT x.cursor_key FROM ${schema}.shards x WHERE x.run_id = p.run_id AND x.shard = ${SHARD} OFFSET 0) s
   WHERE p.run_id = r.id AND p.place >= ${ACTIVE_FROM} AND p.place < ${ACTIVE_TO} AND s.cursor_key IS NOT NULL
   ORDER BY s.cursor_key LIMIT 1) AS watermark
FROM ${schema}.runs r
WHERE ${OF_RUN}`,
};
