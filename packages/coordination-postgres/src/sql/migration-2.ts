/**
 * The index of the order no longer begins with a column that every statement names.
 *
 * Of tables whose statistics are not gathered yet, the planner held it for as good a way to one shard as the key is, and then went
 * through half of the run for each. Only a statement that says `run_id + 0` can be answered from it now.
 */
export const migration2 = (schema: string): string => `
DROP INDEX ${schema}.shards_in_order;
CREATE INDEX shards_in_order ON ${schema}.shards ((run_id + 0), substring(key_range_start FROM 1 FOR 512));
`;
