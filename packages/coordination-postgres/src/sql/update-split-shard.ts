import type { Statement } from "./statement.ts";

/** Updates the shard that is split. Its row is locked and its version was checked. */
export const UPDATE_SPLIT_SHARD: Statement = {
  name: "update_split_shard",
  text: (schema) => `
UPDATE ${schema}.shards
SET version = version + 1, status = $3, park_reason = $4, lease_owner = $5, lease_deadline = $6, fence = $7, attempts = $8,
    cursor_key = $9, record = $10
WHERE run_id = $1 AND shard = $2
RETURNING version`,
};
