import { hintColumns } from "./hint-columns.ts";

/**
 * What a statement over many shards answers, of what it has `written`: one row that says how many, and which where it is
 * not all of them, and a row for each moment that is asked for, with the capacity of its run.
 *
 * A statement sees nothing of what it writes itself. `unwritten` leaves out of the capacity what it has written.
 */
export function batchAnswer(schema: string, { moments, unwritten }: { readonly moments: string; readonly unwritten?: string }): string {
  const hint = hintColumns(schema, { runId: "m.run_id", now: "m.now", ...(unwritten === undefined ? {} : { and: unwritten }) });
  return `
SELECT 0::bigint AS moment, count(*)::int AS written, CASE WHEN count(*) < cardinality($1::bigint[]) THEN array_agg(ordinal::int) END AS which,
       NULL::int AS available, NULL::bytea AS earliest, NULL::bytea AS starved_until
FROM written
UNION ALL
SELECT m.ordinal, NULL, NULL,${hint}
FROM unnest(${moments}) WITH ORDINALITY AS m(run_id, now, ordinal)`;
}
