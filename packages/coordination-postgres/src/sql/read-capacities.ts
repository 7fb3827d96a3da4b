import { freeColumn, lapsedColumns } from "./hint-columns.ts";
import type { Statement } from "./statement.ts";

/** Returns what can be claimed, in the order of the arrays: runs, the entry to begin counting at in each, and the last claimable entry. */
export const READ_CAPACITIES: Statement = {
  name: "read_capacities",
  text: (schema) => `
SELECT ${freeColumn(schema, { runId: "g.run_id", from: "g.place" })},${lapsedColumns(schema, { runId: "g.run_id", now: "g.now" })}
FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS g(run_id, place, now, ordinal)
ORDER BY g.ordinal`,
};
