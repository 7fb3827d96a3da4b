/**
 * Ids and times are their 16 hex digits, and tenants their 64: both sort as text in the order of the numbers.
 *
 * - `runs.record` is NULL in the mark that a removed run leaves forever.
 * - `shards.deadline` is the deadline of the lease, or `FREE` without one. The index `claims` starts with the free
 *   shards, in the order of `mix`, and continues with the leases, the first to expire first.
 * - The other columns of `shards` repeat a field of the record, so that SQL can filter and sort by it.
 */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tenants (
    tenant TEXT PRIMARY KEY,
    shard_count INTEGER NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS runs (
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    version INTEGER NOT NULL,
    record BLOB,
    starved_until TEXT,
    PRIMARY KEY (tenant, run)
  ) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS shards (
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    shard TEXT NOT NULL,
    version INTEGER NOT NULL,
    record BLOB NOT NULL,
    range_start BLOB NOT NULL,
    status TEXT NOT NULL,
    deadline TEXT NOT NULL,
    mix INTEGER NOT NULL,
    last_key BLOB,
    PRIMARY KEY (tenant, run, shard)
  );
  CREATE INDEX IF NOT EXISTS shards_in_order ON shards (tenant, run, range_start, shard);
  CREATE INDEX IF NOT EXISTS shards_by_status ON shards (tenant, run, status);
  CREATE INDEX IF NOT EXISTS claims ON shards (tenant, run, deadline, mix) WHERE status = 'Active';

  CREATE TABLE IF NOT EXISTS notes (
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    space INTEGER NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (tenant, run, space, key)
  ) WITHOUT ROWID;
`;

/** The deadline of a shard without a lease. It sorts before every real deadline: those are at least 1. */
export const FREE = "0".repeat(16);

/** Every write adds `VERSION_STEP`. Runs have even versions and shards odd ones, so neither passes for the other. */
export const FIRST_RUN_VERSION = 2;
export const FIRST_SHARD_VERSION = 1;
export const VERSION_STEP = 2;
