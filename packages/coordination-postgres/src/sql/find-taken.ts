import type { Statement } from "./statement.ts";

/** The first of some ids that a shard of the run has already. */
export const FIND_TAKEN: Statement = {
  name: "find_taken",
  text: (schema) => `
SELECT given.shard
FROM unnest($2::bytea[]) WITH ORDINALITY AS given(shard, ordinal)
WHERE EXISTS (SELECT FROM ${schema}.shards s WHERE s.run_id = $1 AND s.shard = given.shard)
ORDER BY given.ordinal
LIMIT 1`,
};
