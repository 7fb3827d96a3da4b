import type { RunId, TenantId } from "@gossip/contracts";
import type {
  ListPositionsQuery,
  ListRunsQuery,
  ListShardsQuery,
  ListTenantsQuery,
  Page,
  RunRecord,
  ShardPosition,
  ShardRecord,
} from "@gossip/coordination";
import type { Database } from "../database/database.ts";
import { decodeRun, decodeShard, runIdOf, shardIdOf, tenantBytes, tenantOf } from "../layout/rows.ts";
import { LIST_RUNS, LIST_TENANTS } from "../sql/runs.ts";
import { LIST_FIRST_POSITIONS, LIST_FIRST_SHARDS, LIST_NEXT_POSITIONS, LIST_NEXT_SHARDS } from "../sql/list-shards.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";

/** Most items of a page: a record can take 40 KB, and a page is held in memory. */
const MAX_PAGE = 512;

export async function listShards(
  database: Database,
  query: ListShardsQuery,
): Promise<Page<ShardRecord, ShardPosition>> {
  const { tenant, run, after, filter, now } = query;
  const limit = Math.min(query.limit, MAX_PAGE);
  const rows = await database.run<{ shard: Buffer; record: Buffer }>(
    after === undefined ? LIST_FIRST_SHARDS : LIST_NEXT_SHARDS,
    [
      tenantBytes(tenant),
      u64Bytes(run),
      after?.keyRangeStart ?? null,
      after === undefined ? null : u64Bytes(after.shard),
      filter.status ?? null,
      filter.isLeased ?? null,
      u64Bytes(now),
      filter.rootOnly ?? null,
      limit + 1,
    ],
  );
  const items = rows.slice(0, limit).map((row) => decodeShard(query, row));
  const last = items.at(-1);
  return {
    items,
    next:
      rows.length > limit && last !== undefined
        ? { keyRangeStart: last.spec.keyRangeStart, shard: last.shard }
        : undefined,
  };
}

/** A position takes a key at most, and usually a few bytes. */
const MAX_POSITIONS = 2048;

export async function listShardPositions(
  database: Database,
  { tenant, run, after, limit: wanted }: ListPositionsQuery,
): Promise<Page<ShardPosition, ShardPosition>> {
  const limit = Math.min(wanted, MAX_POSITIONS);
  const rows = await database.run<{ shard: Buffer; key_range_start: Buffer }>(
    after === undefined ? LIST_FIRST_POSITIONS : LIST_NEXT_POSITIONS,
    [
      tenantBytes(tenant),
      u64Bytes(run),
      after?.keyRangeStart ?? null,
      after === undefined ? null : u64Bytes(after.shard),
      limit + 1,
    ],
  );
  const items = rows
    .slice(0, limit)
    .map(({ shard, key_range_start: start }) => ({ keyRangeStart: new Uint8Array(start), shard: shardIdOf(shard) }));
  return { items, next: rows.length > limit ? items.at(-1) : undefined };
}

export async function listRuns(database: Database, query: ListRunsQuery): Promise<Page<RunRecord, RunId>> {
  const { tenant, after } = query;
  const limit = Math.min(query.limit, MAX_PAGE);
  const values = [tenantBytes(tenant), after === undefined ? null : u64Bytes(after), limit + 1];
  const rows = await database.run<{ run: Buffer; record: Buffer }>(LIST_RUNS, values);
  const items = rows.slice(0, limit).map(({ run, record }) => decodeRun({ tenant, run: runIdOf(run) }, record));
  return { items, next: rows.length > limit ? items.at(-1)?.run : undefined };
}

export async function listTenants(database: Database, query: ListTenantsQuery): Promise<Page<TenantId, TenantId>> {
  const { after } = query;
  const limit = Math.min(query.limit, MAX_PAGE);
  const values = [after === undefined ? null : tenantBytes(after), limit + 1];
  const rows = await database.run<{ tenant: Buffer }>(LIST_TENANTS, values);
  const items = rows.slice(0, limit).map(({ tenant }) => tenantOf(tenant));
  return { items, next: rows.length > limit ? items.at(-1) : undefined };
}
