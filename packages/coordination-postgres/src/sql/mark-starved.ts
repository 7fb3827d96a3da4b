import type { Statement } from "./statement.ts";

/** A mark only moves forward, and only an existing run gets one. */
export const MARK_STARVED: Statement = {
  name: "mark_starved",
  text: (schema) => `
INSERT INTO ${schema}.starved AS w (run_id, until)
SELECT r.id, $3 FROM ${schema}.runs r WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'
ON CONFLICT (run_id) DO UPDATE SET until = excluded.until WHERE w.until < excluded.until`,
};
