import { ACTIVE_FROM, ACTIVE_TO, CLAIMABLE_AT, FREE_TO, SHARD } from "./claim-index-bytes.ts";
import { HEAD_COLUMNS } from "./shard-reads.ts";
import type { Statement } from "./statement.ts";

/**
 * A run's head and the shards of it that can be claimed: first those without a lease, from the entry `$4` on and then from the start,
 * then those whose lease has lapsed, in the order of their deadlines. `$3` is the last claimable entry.
 *
 * The shards come as one value, which `packedShards` reads: with a row each, the driver spent most of its time on columns.
 *
 * Each part reads `places` in index order. The limit of a part is a literal: for a parameter the planner assumes a tenth of the table, and
 * sorts. There is one statement for each of a few limits, and `$5` ends the parts at the requested number. `OFFSET 0` makes the server
 * look up each shard by its key: a plan made while the table was empty would scan all of them instead.
 *
 * No row is locked or skipped as locked (decision 0007 has the figures): the guarded update that follows makes the claim, and workers
 * start at different entries.
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
