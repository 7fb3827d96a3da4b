import type { Statement } from "./statement.ts";

/**
 * Shards of a run by range start, then by id, after a position.
 *
 * A key can be longer than an index entry. The index has its first 512 bytes, and the server sorts groups that agree in those. The run
 * is a subquery and not a join: with a join the planner does not see that rows come in order, and sorts the whole run for each page.
 */
const RUN = (schema: string): string =>
  `(SELECT r.id FROM ${schema}.runs r WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted')`;
const ORDER = "ORDER BY substring(s.key_range_start FROM 1 FOR 512), s.key_range_start, s.shard";
const FROM_START = "$3::bytea IS NULL AND $4::bytea IS NULL";
const BEHIND = `substring(s.key_range_start FROM 1 FOR 512) >= substring($3::bytea FROM 1 FOR 512)
  AND (s.key_range_start, s.shard) > ($3::bytea, $4::bytea)`;

const listShards = (name: string, behind: string): Statement => ({
  name,
  text: (schema) => `
SELECT s.shard, s.record
FROM ${schema}.shards s
WHERE s.run_id + 0 = ${RUN(schema)}
  AND ${behind}
  AND ($5::text IS NULL OR s.status = $5)
  AND ($6::boolean IS NULL OR $6 = coalesce(s.lease_deadline > $7::bytea, false))
  AND ($8::boolean IS NOT TRUE OR s.parent IS NULL)
${ORDER}
LIMIT $9`,
});

export const LIST_FIRST_SHARDS: Statement = listShards("list_first_shards", FROM_START);

export const LIST_NEXT_SHARDS: Statement = listShards("list_next_shards", BEHIND);

/** The same without records, which take most of the time. */
const listPositions = (name: string, behind: string): Statement => ({
  name,
  text: (schema) => `
SELECT s.shard, s.key_range_start
FROM ${schema}.shards s
WHERE s.run_id + 0 = ${RUN(schema)}
  AND ${behind}
${ORDER}
LIMIT $5`,
});

export const LIST_FIRST_POSITIONS: Statement = listPositions("list_first_positions", FROM_START);

export const LIST_NEXT_POSITIONS: Statement = listPositions("list_next_positions", BEHIND);
