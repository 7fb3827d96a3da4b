import type { Statement } from "./statement.ts";

// A census is changed only by a transaction that has locked its run.

const ADDED = `shard_count = c.shard_count + $2::bigint, digest = mod(c.digest + $3::numeric, 18446744073709551616)`;

/** The first shards of a run begin its census. */
export const BEGIN_CENSUS: Statement = {
  name: "begin_census",
  text: (schema) => `
INSERT INTO ${schema}.censuses AS c (run_id, shard_count, digest) VALUES ($1, $2::bigint, $3::numeric)
ON CONFLICT (run_id) DO UPDATE SET ${ADDED}`,
};

/** More shards join the census, where there is one. A run without one is older than the census: its earlier shards would be missing. */
export const ADD_TO_CENSUS: Statement = {
  name: "add_to_census",
  text: (schema) => `UPDATE ${schema}.censuses c SET ${ADDED} WHERE c.run_id = $1`,
};

export const REMOVE_CENSUS: Statement = {
  name: "remove_census",
  text: (schema) => `DELETE FROM ${schema}.censuses WHERE run_id = $1`,
};

export const READ_CENSUS: Statement = {
  name: "read_census",
  text: (schema) => `SELECT shard_count, digest::text AS digest FROM ${schema}.censuses WHERE run_id = $1`,
};

/** Writes the census of a run that has none. */
export const WRITE_CENSUS: Statement = {
  name: "write_census",
  text: (schema) => `
INSERT INTO ${schema}.censuses (run_id, shard_count, digest) VALUES ($1, $2::bigint, $3::numeric)
ON CONFLICT (run_id) DO NOTHING
RETURNING run_id`,
};

/** Numbers of runs that have a census and no row. */
export const LIST_LOST_CENSUSES: Statement = {
  name: "list_lost_censuses",
  text: (schema) => `
SELECT c.run_id AS id
FROM ${schema}.censuses c
WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = c.run_id)`,
};
