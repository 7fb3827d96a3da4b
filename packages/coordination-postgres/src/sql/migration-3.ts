/**
 * A place is one column of bytes (`place.ts` draws them): of five, the server compared one after the other at every step on its way
 * through the index.
 *
 * What could be no place is left behind: `fsck` finds that it is missing, and `repair` makes it anew.
 */
export const migration3 = (schema: string): string => `
CREATE TABLE ${schema}.packed_places (
  run_id bigint NOT NULL,
  place  bytea NOT NULL CHECK (octet_length(place) = 21),
  PRIMARY KEY (run_id, place)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
INSERT INTO ${schema}.packed_places (run_id, place)
SELECT DISTINCT run_id, convert_to(left(status, 1), 'UTF8') || claimable_at || substring(int8send(spread) FROM 5) || shard
FROM ${schema}.places
WHERE status IN ('Active', 'Parked', 'Split') AND octet_length(claimable_at) = 8 AND octet_length(shard) = 8 AND spread BETWEEN 0 AND 4294967295;
DROP TABLE ${schema}.places;
ALTER TABLE ${schema}.packed_places RENAME TO places;
ALTER INDEX ${schema}.packed_places_pkey RENAME TO places_pkey;
`;
