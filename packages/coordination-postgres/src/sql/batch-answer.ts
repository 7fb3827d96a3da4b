import { freeColumn, lapsedColumns } from "./hint-columns.ts";

/** The parameters of a batch that ask for capacities. */
export interface AskedMoments {
  /** Runs and times, an array each. */
  readonly moments: string;
  /** The runs of those, each once, and where to begin counting in each. */
  readonly runs: string;
}

/**
 * What a statement over many shards answers, of what it has `written`: one row that says how many, and which where it is
 * not all of them; then a row for each run whose capacity is asked for, and one for each moment.
 *
 * A statement sees nothing of what it writes itself. `unwritten` leaves out of the capacity what it has written.
 */
export function batchAnswer(schema: string, { moments, runs }: AskedMoments, unwritten?: string): string {
  const and = unwritten === undefined ? {} : { and: unwritten };
  return `
SELECT 'Written' AS about, 0::bigint AS ordinal, count(*)::int AS written, CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(ordinal::int) END AS which,
       NULL::int AS free, NULL::int AS lapsed, NULL::bytea AS earliest, NULL::bytea AS starved_until
FROM written
UNION ALL
SELECT 'Run', m.ordinal, NULL, NULL, ${freeColumn(schema, { runId: "m.run_id", from: "m.place", ...and })}, NULL, NULL, NULL
FROM unnest(${runs}) WITH ORDINALITY AS m(run_id, place, ordinal)
UNION ALL
SELECT 'Moment', m.ordinal, NULL, NULL, NULL,${lapsedColumns(schema, { runId: "m.run_id", now: "m.now", ...and })}
FROM unnest(${moments}) WITH ORDINALITY AS m(run_id, now, ordinal)`;
}
