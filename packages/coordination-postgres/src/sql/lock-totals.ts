import type { Statement } from "./statement.ts";

/** Whoever changes how many shards there are goes through here one after the other: what is counted next is then the latest. */
export const LOCK_TOTALS: Statement = {
  name: "lock_totals",
  text: (schema) => `SELECT shard_count FROM ${schema}.totals FOR UPDATE`,
};
