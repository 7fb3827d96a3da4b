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
import { prefixEnd } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { addressOf, keyAfter, ShardKind, shardOf, type KeyRange, type Layout, type Space } from "../layout/layout.ts";
import { orderKey } from "../layout/shard-indexes.ts";
import { windowEnd, type OrderWindows } from "./order-windows.ts";
import { danglingEntry, decodeRun, readShardAt, type RunHeads } from "./run-heads.ts";

/** Maximum number of shards that one page reads, however few it returns. */
const MAX_EXAMINED = 1024;
/** Maximum number of runs in one page. */
const MAX_RUNS = 256;
/** Run keys read per request to find tenants. */
const TENANT_KEYS = 256;

/** What a listing needs. */
export interface ListingParts {
  readonly cluster: Cluster;
  readonly heads: RunHeads;
  readonly windows: OrderWindows;
}

export async function listShards(
  { cluster, heads, windows }: ListingParts,
  query: ListShardsQuery,
): Promise<Page<ShardRecord, ShardPosition>> {
  const { layout } = cluster;
  const { filter, now } = query;
  const limit = Math.min(query.limit, MAX_EXAMINED);
  // Other calls may learn another width meanwhile, so it is read once.
  let window: Window | undefined;
  const look = await heads.lookWith(query, (space) => {
    window = space === undefined ? undefined : windowOf(layout, space, { query, digits: windows.of(space) });
    return window === undefined ? [] : [{ get: window.get, end: window.end, limit: limit + 1, keysOnly: true }];
  });
  const space = look?.run.space;
  if (look === undefined || space === undefined) return { items: [], next: undefined };
  const keys = look.found[0]!.kvs.map(({ key }) => key);
  const { revision } = look;
  await readOn(cluster, { space, revision, keys, window: window!, limit: limit + 1 });
  const hasMore = keys.length > limit;
  if (hasMore) windows.learn(space, layout.kind(space, ShardKind.Order), keys);
  const records = await cluster.readAt(
    revision,
    keys.slice(0, limit).map((key) => layout.record(space, shardOf(key))),
  );
  const listed = records.map((kv) => {
    if (kv === undefined) throw danglingEntry();
    return readShardAt(query, space, kv).record;
  });
  const last = listed.at(-1);
  const next =
    hasMore && last !== undefined ? { keyRangeStart: last.spec.keyRangeStart, shard: last.shard } : undefined;
  return { items: listed.filter((record) => ShardFilter.matches(filter, record, now)), next };
}

/** Keys that share so many digits with the first possible one. */
interface Window extends KeyRange {
  readonly digits: number;
}

function windowOf(
  layout: Layout,
  space: Space,
  { query: { after }, digits }: { readonly query: ListShardsQuery; readonly digits: number },
): Window {
  const all = layout.kind(space, ShardKind.Order);
  const get = after === undefined ? all.get : keyAfter(orderKey(layout, space, after));
  return { get, end: windowEnd(all, get, digits), digits };
}

interface FurtherWindows {
  readonly space: Space;
  readonly revision: bigint;
  /** What was found so far. */
  readonly keys: string[];
  /** The last window. */
  readonly window: Window;
  readonly limit: number;
}

/** Adds the keys of further windows, each sixteen times as wide as the one before, until there are enough. */
async function readOn(cluster: Cluster, { space, revision, keys, limit, window }: FurtherWindows): Promise<void> {
  const all = cluster.layout.kind(space, ShardKind.Order);
  let { end: from, digits } = window;
  while (keys.length < limit && from < all.end) {
    digits = Math.max(0, digits - 1);
    const end = windowEnd(all, from, digits);
    const { found } = await cluster.look([{ get: from, end, limit: limit - keys.length, keysOnly: true, revision }]);
    keys.push(...found[0]!.kvs.map(({ key }) => key));
    from = end;
  }
}

export async function listRuns(
  cluster: Cluster,
  { tenant, after, limit }: ListRunsQuery,
): Promise<Page<RunRecord, RunId>> {
  const { layout } = cluster;
  const prefix = `${layout.family("head").get}${tenant}/`;
  const from = after === undefined ? prefix : keyAfter(layout.head({ tenant, run: after }));
  const { revision, found } = await cluster.look([
    { get: from, end: prefixEnd(prefix), limit: Math.min(limit, MAX_RUNS), keysOnly: true },
  ]);
  const { kvs, more } = found[0]!;
  const addresses = kvs.flatMap(({ key }) => addressOf(key) ?? []);
  const items: RunRecord[] = [];
  // A few at a time: a run's record can take 160 KB, and the whole response is held in memory.
  for (let at = 0; at < addresses.length; at += 16) {
    const some = addresses.slice(at, at + 16);
    const records = await cluster.readAt(
      revision,
      some.map((address) => layout.run(address)),
    );
    for (const [index, kv] of records.entries()) {
      if (kv === undefined) throw danglingEntry();
      items.push(decodeRun(some[index]!, kv));
    }
  }
  return { items, next: more ? addresses.at(-1)?.run : undefined };
}

/** Skips from the runs of one tenant to the first run of the next if it has many. */
export async function listTenants(
  cluster: Cluster,
  { after, limit }: ListTenantsQuery,
): Promise<Page<TenantId, TenantId>> {
  const all = cluster.layout.family("head");
  const behind = (tenant: TenantId): string => prefixEnd(`${all.get}${tenant}/`);
  const items: TenantId[] = [];
  let from = after === undefined ? all.get : behind(after);
  for (;;) {
    const { found } = await cluster.look([{ get: from, end: all.end, limit: TENANT_KEYS, keysOnly: true }]);
    const { kvs, more } = found[0]!;
    for (const { key } of kvs) {
      const tenant = addressOf(key)?.tenant;
      if (tenant === undefined || tenant === items.at(-1)) continue;
      if (items.length === limit) return { items, next: items.at(-1) };
      items.push(tenant);
    }
    if (!more) return { items, next: undefined };
    from = behind(items.at(-1)!);
  }
}
