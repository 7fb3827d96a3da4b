import { HEAD_COLUMNS } from "./run-columns.ts";
import type { Statement } from "./statement.ts";

/**
 * A run's head and shards of it that can be claimed: those that nobody holds, from a place on and then from the start,
 * then those whose lease has lapsed, first lapsed first.
 *
 * Each part goes along `shards_to_claim` in the order of that index. The limit is spelled out and no parameter, since of
 * one that it does not know the planner believes that it is a tenth of the table, and sorts.
 *
 * No row is locked, hence none is skipped as locked (decision 0007 has the figures): a claim is the guarded update that
 * follows, and workers look in different places.
 */
export function listClaimCandidates(limit: number): Statement {
  return {
    name: `list_claim_candidates_${limit}`,
    text: (schema) => `
SELECT ${HEAD_COLUMNS}, e.claimable_at AS earliest, c.shard, c.version AS shard_version, c.record
FROM ${schema}.runs r
LEFT JOIN LATERAL (
  SELECT s.claimable_at FROM ${schema}.shards s
  WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at > $3
  ORDER BY s.claimable_at LIMIT 1
) e ON true
LEFT JOIN LATERAL (
  (SELECT s.shard, s.version, s.record FROM ${schema}.shards s
   WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at = '\\x0000000000000000' AND s.spread >= $4
   ORDER BY s.spread, s.shard LIMIT ${limit})
  UNION ALL
  (SELECT s.shard, s.version, s.record FROM ${schema}.shards s
   WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at = '\\x0000000000000000' AND s.spread < $4
   ORDER BY s.spread, s.shard LIMIT ${limit})
  UNION ALL
  (SELECT s.shard, s.version, s.record FROM ${schema}.shards s
   WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at > '\\x0000000000000000' AND s.claimable_at <= $3
   ORDER BY s.claimable_at, s.spread, s.shard LIMIT ${limit})
  LIMIT ${limit}
) c ON true
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
  };
}
