import type { Statement } from "./statement.ts";

/** What can be claimed at a time, counted up to a limit that is news to somebody. */
export const READ_HINT: Statement = {
  name: "read_hint",
  text: (schema) => `
SELECT
  (SELECT count(*) FROM (
     SELECT FROM ${schema}.shards s
     WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at <= $3
     LIMIT 1000) claimable) AS available,
  (SELECT s.claimable_at FROM ${schema}.shards s
   WHERE s.run_id = r.id AND s.status = 'Active' AND s.claimable_at > $3
   ORDER BY s.claimable_at LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = r.id) AS starved_until
FROM ${schema}.runs r
WHERE r.tenant = $1 AND r.run = $2 AND r.status <> 'Deleted'`,
};
