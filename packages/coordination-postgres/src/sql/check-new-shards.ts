import type { Statement } from "./statement.ts";

/** How many shards exist, in all and of a tenant, and the first of some ids that a shard of the run has. Locks nothing. */
export const CHECK_NEW_SHARDS: Statement = {
  name: "check_new_shards",
  text: (schema) => `
SELECT (SELECT shard_count FROM ${schema}.totals) AS total,
  (SELECT shard_count FROM ${schema}.tenants WHERE tenant = $2) AS of_tenant,
  (SELECT given.shard
   FROM unnest($3::bytea[]) WITH ORDINALITY AS given(shard, ordinal)
   WHERE EXISTS (SELECT FROM ${schema}.shards s WHERE s.run_id = $1 AND s.shard = given.shard)
   ORDER BY given.ordinal
   LIMIT 1) AS taken`,
};

/** The same counts, once the totals are locked. A statement of its own: it sees what the previous holder of that lock has committed. */
export const READ_COUNTS: Statement = {
  name: "read_counts",
  text: (schema) => `
SELECT (SELECT shard_count FROM ${schema}.totals) AS total,
  (SELECT shard_count FROM ${schema}.tenants WHERE tenant = $1) AS of_tenant`,
};
