import type { CommitAnswer, ShardLimits } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import type { Compare, GetOperation, KeyValue, TxnOperation, RangeResult } from "@gossip/etcd-client";
import { checkQuota, CorruptStore } from "@gossip/store-kit";
import type { Cluster } from "../cluster/cluster.ts";
import type { Layout, RunAddress } from "../layout/layout.ts";

/** A count as it was read. Zero has no key, and revision 0. */
export interface StoredCount {
  readonly key: string;
  readonly count: number;
  readonly revision: bigint;
}

/**
 * The number of shards of a tenant, and of the whole store.
 *
 * The counts change in the transaction that creates or removes shards, which fails if another one changed them
 * meanwhile.
 */
export interface ShardCounts {
  readonly tenant: StoredCount;
  readonly total: StoredCount;
}

/** How often a write that creates or removes shards is tried again after another one changed the counts. */
export const MAX_COUNT_TRIES = 64;

export function countGets(layout: Layout, { tenant }: RunAddress): GetOperation[] {
  return [{ get: layout.tenantCount(tenant) }, { get: layout.totalCount }];
}

export function readCounts(
  layout: Layout,
  { tenant }: RunAddress,
  [ofTenant, inAll]: readonly RangeResult[],
): ShardCounts {
  return {
    tenant: readCount(layout.tenantCount(tenant), ofTenant!.kvs[0]),
    total: readCount(layout.totalCount, inAll!.kvs[0]),
  };
}

/** Updates the counts, provided they are unchanged. Never goes below zero: a wrong count must not prevent a removal. */
export function countChange(
  { tenant, total }: ShardCounts,
  additional: number,
): { readonly compare: Compare[]; readonly operations: TxnOperation[] } {
  if (additional === 0) return { compare: [], operations: [] };
  return {
    compare: [tenant, total].map(({ key, revision }) => ({ key, target: "MOD", is: "EQUAL", revision })),
    operations: [tenant, total].map(({ key, count }) => {
      const sum = Math.max(0, count + additional);
      return sum === 0 ? { delete: key } : { put: key, value: String(sum) };
    }),
  };
}

/** Returns the refusal of `additional` new shards, or `undefined` if they fit into both quotas. */
export function refuseOverQuota(
  { tenant, total }: ShardCounts,
  additional: number,
  limits: ShardLimits,
): CommitAnswer | undefined {
  return checkQuota({ tenant: tenant.count, total: total.count }, additional, limits);
}

/** The index of the first of these keys that exists at a revision; -1 if none does. */
export async function findTaken(cluster: Cluster, keys: readonly string[], revision: bigint): Promise<number> {
  const found = await cluster.readAt(revision, keys, { keysOnly: true });
  return found.findIndex((kv) => kv !== undefined);
}

/** Parses a stored count; -1 if it is malformed. */
export function storedCount({ value }: KeyValue): number {
  const text = value.toString("latin1");
  return /^\d{1,15}$/u.test(text) ? Number(text) : -1;
}

function readCount(key: string, kv: KeyValue | undefined): StoredCount {
  const count = kv === undefined ? 0 : storedCount(kv);
  if (count < 0)
    throw new CorruptStore(
      InfraError.corruption({ operation: "etcd.readCount", message: "a shard count is not a number" }),
    );
  return { key, count, revision: kv?.modRevision ?? 0n };
}
