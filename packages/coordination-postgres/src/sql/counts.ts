import type { Statement } from "./statement.ts";

/**
 * How many shards exist, in all and for a tenant, and the first of the given ids that is taken in the run. Locks nothing.
 *
 * `OFFSET 0` keeps the lookup of an id a subquery of its own. As a join, and without statistics, the server read the keys of the whole run
 * and compared each of them with each id.
 */
export const CHECK_NEW_SHARDS: Statement = {
  name: "check_new_shards",
  text: (schema) => `
SELECT (SELECT shard_count FROM ${schema}.totals) AS total,
  (SELECT shard_count FROM ${schema}.tenants WHERE tenant = $2) AS of_tenant,
  (SELECT given.shard
   FROM unnest($3::bytea[]) WITH ORDINALITY AS given(shard, ordinal)
   WHERE (SELECT true FROM ${schema}.shards s WHERE s.run_id = $1 AND s.shard = given.shard OFFSET 0)
   ORDER BY given.ordinal
   LIMIT 1) AS taken`,
};

/** The same counts, after the totals are locked. A separate statement, so that it sees what the previous holder of the lock committed. */
export const READ_COUNTS: Statement = {
  name: "read_counts",
  text: (schema) => `
SELECT (SELECT shard_count FROM ${schema}.totals) AS total,
  (SELECT shard_count FROM ${schema}.tenants WHERE tenant = $1) AS of_tenant`,
};

/** Adds created shards to the counts; a negative number removes. The totals are locked. */
export const ADD_TO_COUNTS: Statement = {
  name: "add_to_counts",
  text: (schema) => `
WITH of_run AS (UPDATE ${schema}.runs SET shard_count = shard_count + $3 WHERE id = $1),
     of_tenant AS (UPDATE ${schema}.tenants SET shard_count = shard_count + $3 WHERE tenant = $2)
UPDATE ${schema}.totals SET shard_count = shard_count + $3`,
};
