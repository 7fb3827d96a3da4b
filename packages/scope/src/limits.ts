/** Largest prefix, in bytes, that a scope may have. */
export const MAX_PREFIX_SIZE = 65_536;

/** Most scopes that one table may hold. */
export const MAX_SCOPES = 1_000_000;

/** Longest node id, migration id or address, in UTF-16 units. */
export const MAX_ID_LENGTH = 256;

/**
 * How many finished moves a snapshot remembers by id, newest first.
 *
 * Repeating a step of an older move behaves as for an unknown id. That cannot create a
 * second owner: the number of each move of a scope is never forgotten.
 */
export const MAX_REMEMBERED_MIGRATIONS = 1_024;

/**
 * How far the number of a scope's next move leaps when the scope is taken over by force.
 *
 * The former owner may have started moves that the new owner does not know. The moves of the new owner must
 * count as later than all of them, or their targets would refuse them forever.
 */
export const TAKEOVER_LEAP = 1_000_000;

/** Most bytes that the prefixes of one table may take together. */
export const MAX_INDEX_SIZE = 1_073_741_824;
