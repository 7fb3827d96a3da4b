/** Until the transaction ends, whoever else migrates the same schema waits here. */
export const LOCK_MIGRATIONS = "SELECT pg_advisory_xact_lock(hashtextextended('gossip.migrations.' || $1, 0))";

export const TABLE_EXISTS = "SELECT to_regclass($1) IS NOT NULL AS there";

export const createMigrations = (schema: string): string => `
CREATE SCHEMA IF NOT EXISTS ${schema};
CREATE TABLE IF NOT EXISTS ${schema}.migrations (
  version    integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

export const READ_LAST_MIGRATION = (schema: string): string =>
  `SELECT coalesce(max(version), 0) AS version FROM ${schema}.migrations`;

export const NOTE_MIGRATION = (schema: string): string => `INSERT INTO ${schema}.migrations (version) VALUES ($1)`;

export const READ_SERVER_VERSION = "SELECT current_setting('server_version_num')::int AS version";
