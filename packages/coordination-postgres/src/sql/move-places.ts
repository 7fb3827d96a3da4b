import type { Statement } from "./statement.ts";

/**
 * Parts of a statement that move the places of shards which it has `written`, by what each row of that says of the place that
 * it leaves and the one that it takes. The status of a place that is none is null.
 */
export function movePlaces(schema: string): string {
  const left = `p.run_id = w.run_id AND p.status = w.left_status AND p.claimable_at = w.left_at AND p.spread = w.spread AND p.shard = w.shard`;
  return `
moved AS (
  UPDATE ${schema}.places p SET status = w.taken_status, claimable_at = w.taken_at
  FROM written w
  WHERE w.taken_status IS NOT NULL AND (w.left_status, w.left_at) IS DISTINCT FROM (w.taken_status, w.taken_at) AND ${left}
),
left_places AS (
  DELETE FROM ${schema}.places p USING written w
  WHERE w.taken_status IS NULL AND ${left}
),
entered AS (
  INSERT INTO ${schema}.places (run_id, status, claimable_at, spread, shard)
  SELECT w.run_id, w.taken_status, w.taken_at, w.spread, w.shard FROM written w WHERE w.left_status IS NULL AND w.taken_status IS NOT NULL
)`;
}

/** The same for one shard that was written before. */
export const MOVE_PLACE: Statement = {
  name: "move_place",
  text: (schema) => `
WITH written AS (
  SELECT $1::bigint AS run_id, $2::bytea AS shard, $3::bigint AS spread, $4::text AS left_status, $5::bytea AS left_at, $6::text AS taken_status, $7::bytea AS taken_at
),${movePlaces(schema)}
SELECT FROM written`,
};
