import type { Statement } from "./statement.ts";

export const READ_RUN: Statement = {
  name: "read_run",
  text: (schema) => `
SELECT id, version, status, record
FROM ${schema}.runs
WHERE tenant = $1 AND run = $2`,
};
