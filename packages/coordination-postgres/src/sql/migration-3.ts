/**
 * A place is one column of bytes (`place.ts` draws them): of five, the server compared one after the other at every step on its way
 * through the index.
 *
 * What could be no place is left behind: `fsck` finds that it is missing, and `repair` makes it anew. The table stays the one that it was, with
 * the rights that somebody was given to it.
 */
export const migration3 = (schema: string): string => `
ALTER TABLE ${schema}.places DROP CONSTRAINT places_pkey, ADD COLUMN place bytea CHECK (octet_length(place) = 21);
UPDATE ${schema}.places
SET place = convert_to(left(status, 1), 'UTF8') || claimable_at || substring(int8send(spread) FROM 5) || shard
WHERE status IN ('Active', 'Parked', 'Split') AND octet_length(claimable_at) = 8 AND octet_length(shard) = 8 AND spread BETWEEN 0 AND 4294967295;
DELETE FROM ${schema}.places WHERE place IS NULL;
ALTER TABLE ${schema}.places DROP COLUMN status, DROP COLUMN claimable_at, DROP COLUMN spread, DROP COLUMN shard, ADD PRIMARY KEY (run_id, place);
`;
