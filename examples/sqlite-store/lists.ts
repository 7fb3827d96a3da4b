import { LogicalTime, RunId, ShardId, type TenantId } from "@gossip/contracts";
import {
  ShardFilter,
  type ListRunsQuery,
  type ListShardsQuery,
  type ListTenantsQuery,
  type Page,
  type RunMoment,
  type RunProgress,
  type RunRecord,
  type ShardPosition,
  type ShardRecord,
} from "@gossip/coordination";
import { decodeShardRecord } from "@gossip/coordination-codec";
import { decoded, decodeRunRow, keyOf } from "./records.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** Most rows that one page reads, whatever the caller's limit. */
const MAX_ROWS = 1024;
const NO_BYTES = new Uint8Array(0);

const SHARDS = `
  SELECT record FROM shards WHERE tenant = ? AND run = ? AND (range_start, shard) > (?, ?)
  ORDER BY range_start, shard LIMIT ?`;
const RUNS = "SELECT record FROM runs WHERE tenant = ? AND run > ? AND record IS NOT NULL ORDER BY run LIMIT ?";
const TENANTS = "SELECT DISTINCT tenant FROM runs WHERE tenant > ? AND record IS NOT NULL ORDER BY tenant LIMIT ?";
const STATES = "SELECT status, count(*) AS count FROM shards WHERE tenant = ? AND run = ? GROUP BY status";
const LEASED = `
  SELECT count(*) AS count FROM shards WHERE tenant = ? AND run = ? AND status = 'Active' AND deadline > ?`;
const WATERMARK = `
  SELECT min(last_key) AS last_key FROM shards WHERE tenant = ? AND run = ? AND status = 'Active'`;

export function listShards(file: SqliteFile, query: ListShardsQuery): Page<ShardRecord, ShardPosition> {
  const { after, filter, now } = query;
  const limit = Math.min(query.limit, MAX_ROWS);
  const from = after === undefined ? [NO_BYTES, ""] : [after.keyRangeStart, ShardId.format(after.shard)];
  const rows = file.all(SHARDS, ...keyOf(query), ...from, limit + 1);
  const listed = rows.slice(0, limit).map((row) => decoded(row["record"] as Uint8Array, decodeShardRecord));
  const last = listed.at(-1);
  return {
    items: listed.filter((record) => ShardFilter.matches(filter, record, now)),
    next: rows.length > limit ? { keyRangeStart: last!.spec.keyRangeStart, shard: last!.shard } : undefined,
  };
}

export function listRuns(file: SqliteFile, { tenant, after, limit }: ListRunsQuery): Page<RunRecord, RunId> {
  const from = after === undefined ? "" : RunId.format(after);
  const rows = file.all(RUNS, tenant, from, Math.min(limit, MAX_ROWS) + 1);
  return page(rows.map(decodeRunRow), Math.min(limit, MAX_ROWS), ({ run }) => run);
}

export function listTenants(file: SqliteFile, { after, limit }: ListTenantsQuery): Page<TenantId, TenantId> {
  const rows = file.all(TENANTS, after ?? "", Math.min(limit, MAX_ROWS) + 1);
  const tenants = rows.map((row) => row["tenant"] as TenantId);
  return page(tenants, Math.min(limit, MAX_ROWS), (tenant) => tenant);
}

/** Costs more the more shards the run has. */
export function readProgress(file: SqliteFile, moment: RunMoment): RunProgress {
  const key = keyOf(moment);
  const counts = { Active: 0, Done: 0, Split: 0, Parked: 0 };
  for (const row of file.all(STATES, ...key)) counts[row["status"] as keyof typeof counts] = Number(row["count"]);
  const { Active: active, Done: done, Split: split, Parked: parked } = counts;
  return {
    total: active + done + split + parked,
    active,
    done,
    split,
    parked,
    leased: Number(file.first(LEASED, ...key, LogicalTime.format(moment.now))!["count"]),
    watermark: (file.first(WATERMARK, ...key)!["last_key"] as Uint8Array | null) ?? undefined,
  };
}

/** A page of rows that were read with one more than its limit. */
function page<Item, Position>(read: readonly Item[], limit: number, positionOf: (item: Item) => Position) {
  const items = read.slice(0, limit);
  return { items, next: read.length > limit ? positionOf(items.at(-1)!) : undefined };
}
