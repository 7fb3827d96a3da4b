import type { Statement } from "./statement.ts";

export const LIST_TENANTS: Statement = {
  name: "list_tenants",
  text: (schema) => `
SELECT t.tenant
FROM ${schema}.tenants t
WHERE t.tenant > coalesce($1::bytea, '')
  AND EXISTS (SELECT FROM ${schema}.runs r WHERE r.tenant = t.tenant AND r.status <> 'Deleted')
ORDER BY t.tenant
LIMIT $2`,
};
