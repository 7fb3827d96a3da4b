import type { Statement } from "./statement.ts";

export const LIST_RUNS: Statement = {
  name: "list_runs",
  text: (schema) => `
SELECT run, record
FROM ${schema}.runs
WHERE tenant = $1 AND status <> 'Deleted' AND run > coalesce($2::bytea, '')
ORDER BY run
LIMIT $3`,
};
