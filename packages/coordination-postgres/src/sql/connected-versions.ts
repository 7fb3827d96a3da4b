// A connection of ours holds a shared advisory lock for as long as it lives. The lock shows which tables its process can use: the first half of
// its key is a hash of the schema's name, the second half the number of the newest tables that the process knows. Every login can see it,
// and it cannot outlive the connection.

const MARK = (schema: string): string => `hashtext('gossip.tables.' || $mark$${schema}$mark$)`;

/** Marks the session. It never waits, because no session takes the lock exclusively. */
export const markSession = (schema: string, version: number): string =>
  `SELECT pg_advisory_lock_shared(${MARK(schema)}, ${version})`;

/**
 * How many other sessions of this database show neither the mark nor the name of a version that knows the tables numbered `version`.
 *
 * Releases before the mark existed show nothing, so that every session that shows nothing may be one of theirs. The name counts too: a
 * session has it from the start, and the mark only a moment later. A source of ours that reads a table of the same database is no store.
 */
export const countOtherVersions = (schema: string, version: number): string => `
SELECT count(*)::int AS others
FROM pg_stat_activity a
WHERE a.datname = current_database() AND a.usesysid IS NOT NULL AND a.pid <> pg_backend_pid()
  AND coalesce(a.application_name, '') <> 'gossip source'
  AND coalesce(substring(a.application_name FROM '^gossip \\S+ tables (\\d{1,6})')::int, 0) < ${version}
  AND NOT EXISTS (
    SELECT FROM pg_locks l
    WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
      AND l.classid = (${MARK(schema)}::bigint & 4294967295)::oid AND l.objid::bigint >= ${version})`;
