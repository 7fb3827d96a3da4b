import { hintColumns } from "./hint-columns.ts";
import type { Statement } from "./statement.ts";

export const READ_HINT: Statement = {
  name: "read_hint",
  text: (schema) => `
SELECT ${hintColumns(schema, { runId: "r.id", now: "$3" })}
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
