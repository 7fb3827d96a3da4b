import type { Statement } from "./statement.ts";

/** Serializes every change of how many shards exist, of all tenants. Take it last and commit at once. */
export const LOCK_TOTALS: Statement = {
  name: "lock_totals",
  text: (schema) => `SELECT FROM ${schema}.totals FOR UPDATE`,
};
