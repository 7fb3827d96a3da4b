import type { Statement } from "./statement.ts";

/**
 * Removes a run's shards and marks the run as deleted. Its row is locked.
 *
 * One statement: a hundred thousand shards take the server 0.2 s, and only writers of the same run wait.
 */
export const REMOVE_RUN: Statement = {
  name: "remove_run",
  text: (schema) => `
WITH gone AS (DELETE FROM ${schema}.shards WHERE run_id = $1),
     places AS (DELETE FROM ${schema}.places WHERE run_id = $1),
     quiet AS (DELETE FROM ${schema}.starved WHERE run_id = $1)
UPDATE ${schema}.runs
SET version = version + 1, status = 'Deleted', record = $2
WHERE id = $1
RETURNING version`,
};
