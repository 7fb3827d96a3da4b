import { freeColumn, lapsedColumns, rangeColumns, type PlaceConditions } from "./hint-columns.ts";
import { ACTIVE_FROM } from "./claim-index-bytes.ts";

/** The parameters of a batch that ask for capacities. */
export interface AskedMoments {
  /** Runs, each once, the place to begin counting at in each, and the last that can be claimed at the first time that is asked for of it: an array each. */
  readonly runs: string;
  /** Runs and the last places of the other times, an array each. */
  readonly moments: string;
}

/** The parameters of a batch of one run that ask for its capacity. */
export interface AskedRange {
  readonly runId: string;
  /** The last place that can be claimed at the first time that is asked for, null where none is, and at the last. */
  readonly first: string;
  readonly last: string;
  /** The place to begin counting at. */
  readonly from: string;
}

/** How many were written and, where it is not all of them, which. `asked`: an array of as many. */
export const writtenColumns = (asked: string): string =>
  `count(*)::int AS written, CASE WHEN count(*) < cardinality(${asked}) THEN array_agg(ordinal::int) END AS which`;

/**
 * The end of a statement over many shards of one run, behind the parts that have `written`: one row, with its capacity at the
 * first time that is asked for and all that changes it until the last.
 *
 * A statement sees nothing of what it writes itself. `unwritten` leaves out of the capacity what it has written.
 */
export function runAnswer(
  schema: string,
  { runId, first, last, from }: AskedRange,
  unwritten: PlaceConditions,
): string {
  return `
SELECT ${writtenColumns("$2::bytea[]")},${rangeColumns(schema, { runId, first, last, from, and: unwritten })}
FROM written`;
}

/**
 * The same of several runs. It answers with one row that says what was written; then a row for each run whose capacity is asked for,
 * at the first time; and one for each other time at which it is not the same, because a lease has lapsed in between.
 */
export function batchAnswer(schema: string, { moments, runs }: AskedMoments, unwritten: PlaceConditions): string {
  return `,
capacities AS MATERIALIZED (
  SELECT g.ordinal, g.run_id, ${freeColumn(schema, { runId: "g.run_id", from: "g.place", and: unwritten })},${lapsedColumns(schema, { runId: "g.run_id", now: "g.now", and: unwritten })}
  FROM unnest(${runs}) WITH ORDINALITY AS g(run_id, place, now, ordinal)
)
SELECT 'Written' AS about, 0::bigint AS ordinal, ${writtenColumns("$1::bigint[]")},
       NULL::int AS free, NULL::int AS lapsed, NULL::bytea AS earliest, NULL::bytea AS starved_until
FROM written
UNION ALL
SELECT 'Run', c.ordinal, NULL, NULL, c.free, c.lapsed, c.earliest, c.starved_until FROM capacities c
UNION ALL
SELECT 'Moment', m.ordinal, NULL, NULL, NULL,${lapsedColumns(schema, { runId: "m.run_id", now: "m.now", and: unwritten })}
FROM unnest(${moments}) WITH ORDINALITY AS m(run_id, now, ordinal)
WHERE EXISTS (SELECT FROM capacities c WHERE c.run_id = m.run_id AND ${ACTIVE_FROM} || c.earliest <= m.now)`;
}
