/**
 * Stores a claim index entry in one column, `place` (see `claim-index-entry.ts`). With five columns the server compared them one after the
 * other at every step through the index.
 *
 * Deletes rows that cannot be converted: `fsck` reports them as missing and `repair` adds them again. Keeps the table, and with it
 * the rights granted on it.
 */
export const migration3 = (schema: string): string => `
ALTER TABLE ${schema}.places DROP CONSTRAINT places_pkey, ADD COLUMN place bytea CHECK (octet_length(place) = 21);
UPDATE ${schema}.places
SET place = convert_to(left(status, 1), 'UTF8') || claimable_at || substring(int8send(spread) FROM 5) || shard
WHERE status IN ('Active', 'Parked', 'Split') AND octet_length(claimable_at) = 8 AND octet_length(shard) = 8 AND spread BETWEEN 0 AND 4294967295;
DELETE FROM ${schema}.places WHERE place IS NULL;
ALTER TABLE ${schema}.places DROP COLUMN status, DROP COLUMN claimable_at, DROP COLUMN spread, DROP COLUMN shard, ADD PRIMARY KEY (run_id, place);
`;
