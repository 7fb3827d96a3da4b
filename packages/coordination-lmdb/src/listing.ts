import type { RunId, TenantId } from "@gossip/contracts";
import {
  ShardFilter,
  type ListRunsQuery,
  type ListShardsQuery,
  type ListTenantsQuery,
  type Page,
  type RunRecord,
  type ShardPosition,
  type ShardRecord,
} from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import { addressOf, endOf, keyAfter, RowKind, runKey, tenantKey, tenantOf } from "./keyspace.ts";
import type { RecordRows } from "./record-rows.ts";
import { rangeOf, type Rows } from "./rows.ts";
import { walkInOrder } from "./shard-order.ts";

/** Most shards that one page looks at, however few it keeps: listing must not stop the process for long. */
const MAX_EXAMINED = 4096;

export function listShards(
  rows: Rows,
  records: RecordRows,
  query: ListShardsQuery,
): Result<Page<ShardRecord, ShardPosition>, InfraError> {
  const { after, limit, filter, now } = query;
  const items: ShardRecord[] = [];
  if (!records.hasRun(query)) return ok({ items, next: undefined });
  let last: ShardRecord | undefined;
  let examined = 0;
  for (const shard of walkInOrder(rows, query, after)) {
    if (last !== undefined && (items.length === limit || examined === MAX_EXAMINED))
      return ok({ items, next: positionOf(last) });
    const record = records.readListed(query, shard);
    if (!record.ok) return record;
    last = record.value;
    examined++;
    if (ShardFilter.matches(filter, last, now)) items.push(last);
  }
  return ok({ items, next: undefined });
}

export function listRuns(
  rows: Rows,
  records: RecordRows,
  { tenant, after, limit }: ListRunsQuery,
): Result<Page<RunRecord, RunId>, InfraError> {
  const range = rangeOf(tenantKey(RowKind.RunHead, tenant));
  const start = after === undefined ? range.start : keyAfter(runKey(RowKind.RunHead, { tenant, run: after }));
  const items: RunRecord[] = [];
  for (const key of rows.keys({ start, end: range.end }, { limit: limit + 1 })) {
    if (items.length === limit) return ok({ items, next: items.at(-1)!.run });
    const read = records.readRun(addressOf(key));
    if (!read.ok) return read;
    if (read.value !== undefined) items.push(read.value.record);
  }
  return ok({ items, next: undefined });
}

/** From the first run of a tenant straight to the first run of the next: it costs nothing that a tenant has many. */
export function listTenants(rows: Rows, { after, limit }: ListTenantsQuery): Page<TenantId, TenantId> {
  const { start, end } = rangeOf(Buffer.of(RowKind.RunHead));
  const items: TenantId[] = [];
  let from = after === undefined ? start : endOf(tenantKey(RowKind.RunHead, after));
  for (let key = rows.first({ start: from, end }); key !== undefined; key = rows.first({ start: from, end })) {
    if (items.length === limit) return { items, next: items.at(-1) };
    const tenant = tenantOf(key);
    items.push(tenant);
    from = endOf(tenantKey(RowKind.RunHead, tenant));
  }
  return { items, next: undefined };
}

function positionOf({ spec, shard }: ShardRecord): ShardPosition {
  return { keyRangeStart: spec.keyRangeStart, shard };
}
