import type { Statement } from "./statement.ts";

/**
 * The row of a run to which a session adds. Sessions of a run seldom have the same, so that they seldom wait for one another; the rows of a
 * run are summed.
 */
export const OWN_SLOT = "(pg_backend_pid() % 16)::smallint";

export const ADD_ON_CONFLICT = `ON CONFLICT (run_id, slot) DO UPDATE
  SET done = c.done + excluded.done, split = c.split + excluded.split, parked = c.parked + excluded.parked`;

/** A condition that always holds, and tells the trigger of the table that this statement counts by itself. Ends with the transaction. */
export const IS_COUNTING = "(SELECT set_config('gossip.counted', 'yes', true)) = 'yes'";

/** The same for the rest of a transaction. */
export const COUNT_BY_OURSELVES = "SET LOCAL gossip.counted = 'yes'";

/** The first letter of a status, or 0 for `Done`, which has no claim index entry. */
const letter = (place: string): string => `coalesce(get_byte(${place}, 0), 0)`;

const changed = (letters: number): string =>
  `sum((${letter("w.taken_place")} = ${letters})::int - (${letter("w.left_place")} = ${letters})::int)`;

/**
 * Part of a statement that adds the changes of status of the shards in `written` to the counts of their runs. By run, so that two
 * statements never wait for each other.
 */
export const countChanges = (schema: string): string => `
counted AS (
  INSERT INTO ${schema}.status_counts AS c (run_id, slot, done, split, parked)
  SELECT w.run_id, ${OWN_SLOT}, ${changed(0)}, ${changed(0x53)}, ${changed(0x50)}
  FROM written w
  WHERE ${letter("w.taken_place")} <> ${letter("w.left_place")}
  GROUP BY w.run_id
  ORDER BY w.run_id
  ${ADD_ON_CONFLICT}
),`;

const SUM = "coalesce(sum(done), 0) AS done, coalesce(sum(split), 0) AS split, coalesce(sum(parked), 0) AS parked";

export const READ_STATUS_COUNTS: Statement = {
  name: "read_status_counts",
  text: (schema) => `SELECT ${SUM} FROM ${schema}.status_counts WHERE run_id = $1`,
};

/** Replaces the counts of a run, whose shards are locked. */
export const WRITE_STATUS_COUNTS: Statement = {
  name: "write_status_counts",
  text: (schema) => `
WITH gone AS (DELETE FROM ${schema}.status_counts WHERE run_id = $1 AND slot <> 0)
INSERT INTO ${schema}.status_counts (run_id, slot, done, split, parked) VALUES ($1, 0, $2, $3, $4)
ON CONFLICT (run_id, slot) DO UPDATE SET done = excluded.done, split = excluded.split, parked = excluded.parked`,
};

export const LIST_RESTING: Statement = {
  name: "list_resting",
  text: (schema) => `SELECT shard FROM ${schema}.resting WHERE run_id = $1`,
};

export const ADD_RESTING: Statement = {
  name: "add_resting",
  text: (schema) => `INSERT INTO ${schema}.resting (run_id, shard) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
};

export const REMOVE_RESTING: Statement = {
  name: "remove_resting",
  text: (schema) => `DELETE FROM ${schema}.resting WHERE run_id = $1 AND shard = $2`,
};

/** Numbers of runs that have counts or resting shards, and no row. */
export const LIST_LOST_COUNTS: Statement = {
  name: "list_lost_counts",
  text: (schema) => `
SELECT DISTINCT c.run_id AS id
FROM (SELECT run_id FROM ${schema}.status_counts UNION ALL SELECT run_id FROM ${schema}.resting) c
WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = c.run_id)`,
};

export const REMOVE_LOST_COUNTS: Statement = {
  name: "remove_lost_counts",
  text: (schema) => `
WITH resting AS (
  DELETE FROM ${schema}.resting s WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = s.run_id) RETURNING s.run_id
), counts AS (
  DELETE FROM ${schema}.status_counts c WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = c.run_id) RETURNING c.run_id
)
SELECT (SELECT count(*)::int FROM resting) AS resting, (SELECT count(DISTINCT run_id)::int FROM counts) AS counts`,
};
