import type { Statement } from "./statement.ts";

/**
 * Parts of a statement that move the claim index entries of the shards in `written`. Each row of it has the old entry and the new one, or
 * null for none.
 */
export function moveEntries(schema: string): string {
  const left = "p.run_id = w.run_id AND p.place = w.left_place";
  return `
moved AS (
  UPDATE ${schema}.places p SET place = w.taken_place
  FROM written w
  WHERE w.taken_place <> w.left_place AND ${left}
),
left_places AS (
  DELETE FROM ${schema}.places p USING written w
  WHERE w.taken_place IS NULL AND ${left}
),
entered AS (
  INSERT INTO ${schema}.places (run_id, place)
  SELECT w.run_id, w.taken_place FROM written w WHERE w.left_place IS NULL AND w.taken_place IS NOT NULL
)`;
}

/** The same for one shard that an earlier statement wrote. */
export const MOVE_ENTRY: Statement = {
  name: "move_place",
  text: (schema) => `
WITH written AS (SELECT $1::bigint AS run_id, $2::bytea AS left_place, $3::bytea AS taken_place),${moveEntries(schema)}
SELECT FROM written`,
};
