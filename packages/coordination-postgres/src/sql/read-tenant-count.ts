import type { Statement } from "./statement.ts";

export const READ_TENANT_COUNT: Statement = {
  name: "read_tenant_count",
  text: (schema) => `SELECT shard_count FROM ${schema}.tenants WHERE tenant = $1`,
};
