/**
 * Shards of the run `$1`, one array per column.
 *
 * Every row has the run's number, and `OFFSET 0` hides that it is a constant: before the first statistics the planner would otherwise
 * scan the run instead of looking up each shard.
 */
export function inputOfRun(arrays: string, columns: string): string {
  return `SELECT $1::bigint AS run_id, given.* FROM unnest(${arrays}) WITH ORDINALITY AS given(${columns}, ordinal) OFFSET 0`;
}
