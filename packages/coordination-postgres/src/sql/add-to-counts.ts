import type { Statement } from "./statement.ts";

/** Adds created shards to the counts; a negative number removes. The totals are locked. */
export const ADD_TO_COUNTS: Statement = {
  name: "add_to_counts",
  text: (schema) => `
WITH of_run AS (UPDATE ${schema}.runs SET shard_count = shard_count + $3 WHERE id = $1),
     of_tenant AS (UPDATE ${schema}.tenants SET shard_count = shard_count + $3 WHERE tenant = $2)
UPDATE ${schema}.totals SET shard_count = shard_count + $3`,
};
