import { freeColumn, lapsedColumns, rangeColumns, type EntryConditions } from "./hint-columns.ts";
import { ACTIVE_FROM } from "./claim-index-bytes.ts";

/** The parameters of a batch that ask for capacities. */
export interface AskedMoments {
  /** Three arrays: each run once, the entry to begin counting at, and the last entry that can be claimed at the first requested time. */
  readonly runs: string;
  /** Two arrays: the runs, and the last claimable entries at the other times. */
  readonly moments: string;
}

/** The parameters of a batch of one run that ask for its capacity. */
export interface AskedRange {
  readonly runId: string;
  /** The last claimable entry at the first requested time (null if none is requested), and at the last. */
  readonly first: string;
  readonly last: string;
  /** The entry to begin counting at. */
  readonly from: string;
}

/** How many were written and, if not all, which. `asked`: an array with one element per set. */
export const writtenColumns = (asked: string): string =>
  `count(*)::int AS written, CASE WHEN count(*) < cardinality(${asked}) THEN array_agg(ordinal::int) END AS which`;

/**
 * The end of a statement that updates shards of one run, after the part `written`. Returns one row: the capacity at the first
 * requested time, and every change to it until the last.
 *
 * A statement does not see its own writes. `unwritten` excludes the rows that it wrote from the capacity.
 */
export function runAnswer(
  schema: string,
  { runId, first, last, from }: AskedRange,
  unwritten: EntryConditions,
): string {
  return `
SELECT ${writtenColumns("$2::bytea[]")},${rangeColumns(schema, { runId, first, last, from, and: unwritten })}
FROM written`;
}

/**
 * The same for several runs. Returns one row about what was written, one row per run with its capacity at the first requested time,
 * and one row for each later time at which a lease has lapsed since.
 */
export function batchAnswer(schema: string, { moments, runs }: AskedMoments, unwritten: EntryConditions): string {
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
