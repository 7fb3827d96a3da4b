/** The columns of a run that every read of a shard needs. Not its record, which holds the ids of all its first shards. */
export const HEAD_COLUMNS = "r.id, r.version, r.status, r.cursor_semantics, r.lease_duration, r.max_shard_retries";
