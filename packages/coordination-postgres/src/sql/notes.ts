import type { Statement } from "./statement.ts";

/** The part of a key that the index can hold, and the digest of the others. They must be spelled as in the index. */
const HEAD = "substring(key FROM 1 FOR 512)";
const DIGEST = "(CASE WHEN octet_length(key) > 512 THEN sha256(key) ELSE ''::bytea END)";
const INDEXED = `(run_id, space, (${HEAD}), ${DIGEST})`;

/** The condition that a note has the key of a row `i`. */
const SAME_KEY = `n.run_id = i.run_id AND n.space = i.space AND substring(n.key FROM 1 FOR 512) = substring(i.key FROM 1 FOR 512) AND n.key = i.key`;

/** The notes that a statement is about: one array a column. */
const INPUT = "unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[])";

// Writers of the same notes lock them in the order of the arrays, so that they rarely deadlock.

export const PUT_NOTES: Statement = {
  name: "put_notes",
  text: (schema) => `
INSERT INTO ${schema}.notes (run_id, space, key, value)
SELECT run_id, space, key, value FROM ${INPUT} AS i(run_id, space, key, value)
ON CONFLICT ${INDEXED} DO UPDATE SET value = excluded.value`,
};

/** Writes notes that must not exist. Returns a row for each that it wrote. */
export const PUT_NEW_NOTES: Statement = {
  name: "put_new_notes",
  text: (schema) => `
INSERT INTO ${schema}.notes (run_id, space, key, value)
SELECT run_id, space, key, value FROM ${INPUT} AS i(run_id, space, key, value)
ON CONFLICT ${INDEXED} DO NOTHING
RETURNING run_id`,
};

/** Replaces notes that must have a value. Returns a row for each that it wrote. */
export const REPLACE_NOTES: Statement = {
  name: "replace_notes",
  text: (schema) => `
UPDATE ${schema}.notes n SET value = i.value
FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[]) AS i(run_id, space, key, value, guard)
WHERE ${SAME_KEY} AND n.value = i.guard
RETURNING n.run_id`,
};

/** Removes notes. Returns a row for each that existed. */
export const REMOVE_NOTES: Statement = {
  name: "remove_notes",
  text: (schema) => `
DELETE FROM ${schema}.notes n
USING unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS i(run_id, space, key, guard)
WHERE ${SAME_KEY} AND (i.guard IS NULL OR n.value = i.guard)
RETURNING n.run_id`,
};

/** The notes among those given that exist. */
export const FIND_NOTES: Statement = {
  name: "find_notes",
  text: (schema) => `
SELECT n.run_id
FROM ${schema}.notes n JOIN unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS i(run_id, space, key) ON ${SAME_KEY}`,
};

/** Locks a run against removal until the transaction ends. */
export const HOLD_RUN: Statement = {
  name: "hold_run",
  text: (schema) => `
SELECT id FROM ${schema}.runs WHERE tenant = $1 AND run = $2 AND status <> 'Deleted' FOR SHARE`,
};

export const REMOVE_NOTES_OF_RUN: Statement = {
  name: "remove_notes_of_run",
  text: (schema) => `DELETE FROM ${schema}.notes WHERE run_id = $1`,
};

const RUN_ID = (schema: string): string =>
  `(SELECT r.id FROM ${schema}.runs r WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted')`;

/** Notes by key. The server sorts groups that agree in their first 512 bytes. */
export const LIST_NOTES: Statement = {
  name: "list_notes",
  text: (schema) => `
SELECT key, value
FROM ${schema}.notes
WHERE run_id = ${RUN_ID(schema)} AND space = $3
  AND ${HEAD} >= substring($4::bytea FROM 1 FOR 512) AND key >= $4::bytea
ORDER BY ${HEAD}, key
LIMIT $5`,
};

/** The same up to a key. */
export const LIST_NOTES_UP_TO: Statement = {
  name: "list_notes_up_to",
  text: (schema) => `
SELECT key, value
FROM ${schema}.notes
WHERE run_id = ${RUN_ID(schema)} AND space = $3
  AND ${HEAD} >= substring($4::bytea FROM 1 FOR 512) AND key >= $4::bytea
  AND ${HEAD} <= substring($5::bytea FROM 1 FOR 512) AND key < $5::bytea
ORDER BY ${HEAD}, key
LIMIT $6`,
};

export const COUNT_NOTES: Statement = {
  name: "count_notes",
  text: (schema) => `
SELECT count(*) AS count
FROM (SELECT FROM ${schema}.notes WHERE run_id = ${RUN_ID(schema)} AND space = $3 LIMIT $4) counted`,
};

/** The codes of the spaces of a run, as they are stored. */
export const INSPECT_NOTE_SPACES: Statement = {
  name: "inspect_note_spaces",
  text: (schema) => `SELECT DISTINCT space AS code FROM ${schema}.notes WHERE run_id = $1 ORDER BY 1`,
};

export const INSPECT_NOTES: Statement = {
  name: "inspect_notes",
  text: (schema) => `
SELECT key, value
FROM ${schema}.notes
WHERE run_id = $1 AND space = $2 AND ${HEAD} >= substring($3::bytea FROM 1 FOR 512) AND key >= $3::bytea
ORDER BY ${HEAD}, key
LIMIT $4`,
};

export const LIST_LOST_NOTES: Statement = {
  name: "list_lost_notes",
  text: (schema) => `
SELECT DISTINCT n.run_id AS id
FROM ${schema}.notes n
WHERE NOT EXISTS (SELECT FROM ${schema}.runs r WHERE r.id = n.run_id)`,
};
