/**
 * The index of the order no longer begins with a column that every statement names.
 *
 * Before the first statistics, the planner rated that index as good as the primary key for finding one shard, and then read half of the
 * run for each. Now only a statement with `run_id + 0` can use it.
 */
export const migration2 = (schema: string): string => `
DROP INDEX ${schema}.shards_in_order;
CREATE INDEX shards_in_order ON ${schema}.shards ((run_id + 0), substring(key_range_start FROM 1 FOR 512));
`;
