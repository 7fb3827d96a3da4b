/** Which run, when, and which of its shards count; each a piece of SQL. */
export interface HintScope {
  readonly runId: string;
  readonly now: string;
  /** A further condition on the shards, which are `s` there. */
  readonly and?: string;
}

/** What can be claimed of a run at a time, counted up to a limit that is news to somebody. Each is a probe of `shards_to_claim`. */
export function hintColumns(schema: string, { runId, now, and }: HintScope): string {
  const claimable = `s.run_id = ${runId} AND s.status = 'Active'${and === undefined ? "" : ` AND ${and}`}`;
  return `
  (SELECT count(*)::int FROM (SELECT FROM ${schema}.shards s WHERE ${claimable} AND s.claimable_at <= ${now} LIMIT 1000) claimable) AS available,
  (SELECT s.claimable_at FROM ${schema}.shards s WHERE ${claimable} AND s.claimable_at > ${now} ORDER BY s.claimable_at LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}
