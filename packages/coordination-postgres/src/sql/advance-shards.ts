import { writtenColumns } from "./batch-answer.ts";
import type { Statement } from "./statement.ts";

// Writes that leave the claim index as it is, as a checkpoint does. No column of them is in an index, so that the server writes no index
// entry, and the capacity of the run stays what it is.

const SET = "version = s.version + 1, attempts = i.attempts, cursor_key = i.cursor_key, record = i.record";

/** Advances shards, each where its version is still the one that was read. */
export const ADVANCE_SHARDS: Statement = {
  name: "advance_shards",
  text: (schema) => `
WITH written AS (
  UPDATE ${schema}.shards s SET ${SET}
  FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[])
       WITH ORDINALITY AS i(run_id, shard, guard, attempts, cursor_key, record, ordinal)
  WHERE s.run_id = i.run_id AND s.shard = i.shard AND s.version = i.guard
  RETURNING i.ordinal
)
SELECT ${writtenColumns("$1::bigint[]")} FROM written`,
};

/** The same for one shard; the caller checks the number of written rows. Without arrays it takes the server half as long. */
export const ADVANCE_SHARD: Statement = {
  name: "advance_shard",
  text: (schema) => `
UPDATE ${schema}.shards
SET version = version + 1, attempts = $4, cursor_key = $5, record = $6
WHERE run_id = $1 AND shard = $2 AND version = $3`,
};
