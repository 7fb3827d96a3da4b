import type { Statement } from "./statement.ts";
import { freeColumn, hintColumns, lapsedColumns } from "./hint-columns.ts";

export const READ_HINT: Statement = {
  name: "read_hint",
  text: (schema) => `
SELECT ${hintColumns(schema, { runId: "r.id", now: "$3" })}
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};

/** Returns what can be claimed, in the order of the arrays: runs, the entry to begin counting at in each, and the last claimable entry. */
export const READ_CAPACITIES: Statement = {
  name: "read_capacities",
  text: (schema) => `
SELECT ${freeColumn(schema, { runId: "g.run_id", from: "g.place" })},${lapsedColumns(schema, { runId: "g.run_id", now: "g.now" })}
FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS g(run_id, place, now, ordinal)
ORDER BY g.ordinal`,
};
