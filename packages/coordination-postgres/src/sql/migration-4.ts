/**
 * A census for each run: how many shards it has, and a digest of their ids (`RunCensus` of `@gossip/coordination-fsck`). It is written only
 * where shards are created or removed. A run from before has none until `repair` writes it.
 *
 * It only adds a table. A process of the previous version keeps working, but does not update the censuses of runs that it adds shards to.
 */
export const migration4 = (schema: string): string => `
CREATE TABLE ${schema}.censuses (
  run_id      bigint PRIMARY KEY,
  shard_count bigint NOT NULL,
  digest      numeric(20) NOT NULL CHECK (digest BETWEEN 0 AND 18446744073709551615)
);
`;
