import type { RunId, TenantId } from "@gossip/contracts";
import {
  ShardFilter,
  type ListPositionsQuery,
  type ListRunsQuery,
  type ListShardsQuery,
  type ListTenantsQuery,
  type Page,
  type RunRecord,
  type ShardPosition,
  type ShardRecord,
} from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { compareBytes } from "@gossip/stdx";
import { CorruptStore } from "@gossip/store-kit";
import { addressOf, endOf, keyAfter, RowKind, runKey, tenantKey, tenantOf } from "../layout/keyspace.ts";
import type { RecordRows } from "./record-rows.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";
import { walkInOrder, walkPositions } from "./shard-order.ts";

/** Maximum number of shards that one page reads, however few match: listing must not block the process for long. */
const MAX_EXAMINED = 4096;

export function listShards(rows: Rows, records: RecordRows, query: ListShardsQuery): Page<ShardRecord, ShardPosition> {
  const { after, limit, filter, now } = query;
  const items: ShardRecord[] = [];
  if (!records.hasRun(query)) return { items, next: undefined };
  let last: ShardRecord | undefined;
  let examined = 0;
  for (const shard of walkInOrder(rows, query, after)) {
    if (last !== undefined && (items.length === limit || examined === MAX_EXAMINED))
      return { items, next: positionOf(last) };
    const read = records.readListed(query, shard);
    assertListedAfter(last === undefined ? after : positionOf(last), read);
    last = read;
    examined++;
    if (ShardFilter.matches(filter, last, now)) items.push(last);
  }
  return { items, next: undefined };
}

/** Positions of one page: they are read from the index alone, a million per second. */
const MAX_POSITIONS = 4096;

export function listShardPositions(
  rows: Rows,
  records: RecordRows,
  query: ListPositionsQuery,
): Page<ShardPosition, ShardPosition> {
  const items: ShardPosition[] = [];
  if (!records.hasRun(query)) return { items, next: undefined };
  const limit = Math.min(query.limit, MAX_POSITIONS);
  for (const position of walkPositions(rows, query, query.after)) {
    if (items.length === limit) return { items, next: items.at(-1) };
    items.push(position);
  }
  return { items, next: undefined };
}

export function listRuns(
  rows: Rows,
  records: RecordRows,
  { tenant, after, limit }: ListRunsQuery,
): Page<RunRecord, RunId> {
  const range = rangeOf(tenantKey(RowKind.RunHead, tenant));
  const start = after === undefined ? range.start : keyAfter(runKey(RowKind.RunHead, { tenant, run: after }));
  const items: RunRecord[] = [];
  for (const key of rows.keys({ start, end: range.end }, { limit: limit + 1 })) {
    if (items.length === limit) return { items, next: items.at(-1)!.run };
    const read = records.readRun(addressOf(key));
    if (read !== undefined) items.push(read.record);
  }
  return { items, next: undefined };
}

/** Seeks from the first run of a tenant to the first run of the next, so the number of runs does not matter. */
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

/**
 * Throws unless a shard follows a position. The position of the next page comes from a record: if the index had it in
 * another place, the pages could lead in a circle.
 */
function assertListedAfter(after: ShardPosition | undefined, { spec, shard }: ShardRecord): void {
  if (after === undefined) return;
  const order = compareBytes(spec.keyRangeStart, after.keyRangeStart);
  if (order > 0 || (order === 0 && shard > after.shard)) return;
  throw new CorruptStore(
    InfraError.corruption({ operation: "lmdb.listShards", message: "an index has a shard in the wrong place" }),
  );
}

function positionOf({ spec, shard }: ShardRecord): ShardPosition {
  return { keyRangeStart: spec.keyRangeStart, shard };
}
