/** Another migration of the same schema waits here until the transaction ends. */
export const LOCK_MIGRATIONS = "SELECT pg_advisory_xact_lock(hashtextextended('gossip.migrations.' || $1, 0))";

/**
 * Whether a schema, named as SQL quotes it, has a table. Read from the catalog as rows: within a transaction, `to_regclass` may return what a
 * cache of the session held before another session committed the table.
 */
export const TABLE_EXISTS = `
SELECT EXISTS (
  SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = trim(BOTH '"' FROM $1) AND c.relname = $2) AS there`;

export const createMigrations = (schema: string): string => `
CREATE SCHEMA IF NOT EXISTS ${schema};
CREATE TABLE IF NOT EXISTS ${schema}.migrations (
  version    integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

export const READ_LAST_MIGRATION = (schema: string): string =>
  `SELECT coalesce(max(version), 0) AS version FROM ${schema}.migrations`;

export const NOTE_MIGRATION = (schema: string): string => `INSERT INTO ${schema}.migrations (version) VALUES ($1)`;

export const HAS_RUNS = (schema: string): string => `SELECT EXISTS (SELECT FROM ${schema}.runs) AS has_runs`;

export const READ_SERVER_VERSION = "SELECT current_setting('server_version_num')::int AS version";
