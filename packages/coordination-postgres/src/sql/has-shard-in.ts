import type { Statement } from "./statement.ts";

/** Whether a run has a shard in one of some states: each is looked for by itself, in the index that it is in. */
export const HAS_SHARD_IN: Statement = {
  name: "has_shard_in",
  text: (schema) => `
SELECT 'Active' = ANY($2::text[]) AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Active')
    OR 'Parked' = ANY($2::text[]) AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Parked')
    OR 'Split' = ANY($2::text[]) AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Split')
    OR 'Done' = ANY($2::text[]) AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Done') AS found`,
};
