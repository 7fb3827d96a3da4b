import type { Statement } from "./statement.ts";

/** Whether a run has a shard in one of the given states. `$2`: the first bytes of their claim index entries; `$3`: whether to look for finished shards, which have no entry. */
export const HAS_SHARD_IN: Statement = {
  name: "has_shard_in",
  text: (schema) => `
SELECT EXISTS (
  SELECT FROM unnest($2::bytea[]) AS wanted(letter)
  WHERE EXISTS (SELECT FROM ${schema}.places WHERE run_id = $1 AND place >= letter AND place < set_byte(letter, 0, get_byte(letter, 0) + 1))
) OR $3 AND EXISTS (SELECT FROM ${schema}.shards WHERE run_id = $1 AND status = 'Done') AS found`,
};
