/**
 * Shards of the run `$1`, an array a column.
 *
 * Its number comes with each of them, and the offset of 0 hides that it is the same: of tables that it knows nothing of, the planner would
 * else go through the run for each array, and not through the arrays for the shards.
 */
export function inputOfRun(arrays: string, columns: string): string {
  return `SELECT $1::bigint AS run_id, given.* FROM unnest(${arrays}) WITH ORDINALITY AS given(${columns}, ordinal) OFFSET 0`;
}
