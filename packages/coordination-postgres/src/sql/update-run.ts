import type { Statement } from "./statement.ts";

export const UPDATE_RUN: Statement = {
  name: "update_run",
  text: (schema) => `
UPDATE ${schema}.runs
SET version = version + 1, status = $2, cursor_semantics = $3, lease_duration = $4, max_shard_retries = $5, record = $6
WHERE id = $1
RETURNING version`,
};
