// The bytes of a claim index entry, as SQL. `claim-index-entry.ts` has the layout; `p` is a row of `places`.

/** The bounds of the entries of active shards, and of those without a lease. */
export const ACTIVE_FROM = "'\\x41'::bytea";
export const ACTIVE_TO = "'\\x42'::bytea";
export const FREE_TO = "'\\x410000000000000001'::bytea";

export const PARKED_FROM = "'\\x50'::bytea";
export const PARKED_TO = "'\\x51'::bytea";
export const SPLIT_FROM = "'\\x53'::bytea";
export const SPLIT_TO = "'\\x54'::bytea";

/** When the shard of an entry can be claimed. */
export const CLAIMABLE_AT = "substring(p.place FROM 2 FOR 8)";
export const SHARD = "substring(p.place FROM 14)";
