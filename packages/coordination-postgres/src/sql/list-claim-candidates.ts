import { ACTIVE_FROM, ACTIVE_TO, CLAIMABLE_AT, FREE_TO, SHARD } from "./claim-index-bytes.ts";
import { HEAD_COLUMNS } from "./run-columns.ts";
import type { Statement } from "./statement.ts";

/**
 * A run's head and shards of it that can be claimed: those that nobody holds, from a place on and then from the start,
 * then those whose lease has lapsed, first lapsed first. `$3` is the last place that can be claimed, `$4` the one to begin at.
 *
 * They come as one value (`packedShards` reads it): of a row each, most of the time went into the columns.
 *
 * Each part goes along `places` in the order of its index. The limit of a part is spelled out and no parameter, since of
 * one that it does not know the planner believes that it is a tenth of the table, and sorts. There are statements for a few such limits, and
 * the parts end where as many are found as are asked for. And each shard is looked up
 * for its place, which the offset of 0 sees to: a plan that was made while the table was empty would go through all of them instead.
 *
 * No row is locked, hence none is skipped as locked (decision 0007 has the figures): a claim is the guarded update that
 * follows, and workers look in different places.
 */
export function listClaimCandidates(atMost: number): Statement {
  return {
    name: `list_claim_candidates_${atMost}`,
    text: (schema) => `
SELECT ${HEAD_COLUMNS},
  (SELECT ${CLAIMABLE_AT} FROM ${schema}.places p
   WHERE p.run_id = r.id AND p.place > $3 AND p.place < ${ACTIVE_TO}
   ORDER BY p.place LIMIT 1) AS earliest,
  (SELECT string_agg(int8send(s.version) || s.shard || int4send(octet_length(s.record)) || s.record, '')
   FROM (
     (SELECT ${SHARD} AS shard FROM ${schema}.places p
      WHERE p.run_id = r.id AND p.place >= $4 AND p.place < ${FREE_TO}
      ORDER BY p.place LIMIT ${atMost})
     UNION ALL
     (SELECT ${SHARD} FROM ${schema}.places p
      WHERE p.run_id = r.id AND p.place >= ${ACTIVE_FROM} AND p.place < $4
      ORDER BY p.place LIMIT ${atMost})
     UNION ALL
     (SELECT ${SHARD} FROM ${schema}.places p
      WHERE p.run_id = r.id AND p.place >= ${FREE_TO} AND p.place <= $3
      ORDER BY p.place LIMIT ${atMost})
     LIMIT $5
   ) found
   CROSS JOIN LATERAL (SELECT * FROM ${schema}.shards s WHERE s.run_id = r.id AND s.shard = found.shard OFFSET 0) s
  ) AS candidates
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
  };
}
