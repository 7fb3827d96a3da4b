import type { Statement } from "./statement.ts";

/** Whether a run has a shard in one of some states. Each is looked for by itself; only finished shards have no place to be found at. */
export const HAS_SHARD_IN: Statement = {
  name: "has_shard_in",
  text: (schema) => `
SELECT EXISTS (SELECT FROM ${schema}.places WHERE run_id = $1 AND status = ANY($2::text[]))
    OR 'Done' = ANY($2::text[]) AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Done') AS found`,
};
