/** Which run, when, and which of its shards count; each a piece of SQL. */
export interface HintScope {
  readonly runId: string;
  readonly now: string;
  /** A further condition on the shards, which are `s` there. */
  readonly and?: string;
}

const FREE = "'\\x0000000000000000'";

/** What can be claimed of a run at a time, counted up to a limit that is news to somebody. Each is a probe of `shards_to_claim`. */
export function hintColumns(schema: string, scope: HintScope): string {
  return `${lapsedColumns(schema, scope)},
  ${freeColumn(schema, scope)}`;
}

/** How many nobody has a lease on: the same at all times, and the one of them that takes long where there are many. */
export function freeColumn(schema: string, { runId, and }: Omit<HintScope, "now">): string {
  return `(SELECT count(*)::int FROM (SELECT FROM ${schema}.shards s WHERE ${activeOf(runId, and)} AND s.claimable_at = ${FREE} LIMIT 1000) free) AS free`;
}

/** How many leases have lapsed, when the first of the others will, and until when the run is wanted. */
export function lapsedColumns(schema: string, { runId, now, and }: HintScope): string {
  const active = activeOf(runId, and);
  return `
  (SELECT count(*)::int FROM (SELECT FROM ${schema}.shards s WHERE ${active} AND s.claimable_at > ${FREE} AND s.claimable_at <= ${now} LIMIT 1000) lapsed) AS lapsed,
  (SELECT s.claimable_at FROM ${schema}.shards s WHERE ${active} AND s.claimable_at > ${now} ORDER BY s.claimable_at LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

function activeOf(runId: string, and: string | undefined): string {
  return `s.run_id = ${runId} AND s.status = 'Active'${and === undefined ? "" : ` AND ${and}`}`;
}
