import { rootsOf, type ShardRow } from "../../run/inspect/read-shards.ts";
import type { ShardWork } from "./expected-shard.ts";

/** The shards that have work of their own: all but those that were replaced by others. */
export function shardWorkOf(rows: readonly ShardRow[]): ShardWork[] {
  const roots = rootsOf(rows);
  const shards: ShardWork[] = [];
  for (const { shard, status, keyRangeStart, keyRangeEnd, lastKey, totals } of rows) {
    if (status === "Split") continue;
    const range = { start: keyRangeStart, end: keyRangeEnd };
    shards.push({ root: roots.get(shard)!, range, lastKey, status, items: totals.items });
  }
  return shards;
}
