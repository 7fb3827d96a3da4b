import type { ShardLimitScope, TenantId } from "@gossip/contracts";
import type { OverdrawnLimit, ShardLimits } from "@gossip/coordination";
import { readU64, RowKind, runKey, storeKey, tenantKey, U64_SIZE, writeU64, type RunAddress } from "./keyspace.ts";
import type { Rows } from "./rows.ts";

/** How many shards exist: of a run, of its tenant, and in all. They change only where shards are created or removed. */
export interface ShardCounts {
  readonly run: number;
  readonly tenant: number;
  readonly total: number;
}

export function readCounts(rows: Rows, address: RunAddress): ShardCounts {
  return {
    run: readRunCount(rows, address),
    tenant: readTenantCount(rows, address.tenant),
    total: readCount(rows, storeKey(RowKind.TotalCount)),
  };
}

export function readRunCount(rows: Rows, address: RunAddress): number {
  return readCount(rows, runKey(RowKind.RunCount, address));
}

export function readTenantCount(rows: Rows, tenant: TenantId): number {
  return readCount(rows, tenantKey(RowKind.TenantCount, tenant));
}

/** Write all three. Only within a transaction, from what was read in it. */
export function writeCounts(rows: Rows, address: RunAddress, counts: ShardCounts): void {
  putCount(rows, runKey(RowKind.RunCount, address), counts.run);
  putCount(rows, tenantKey(RowKind.TenantCount, address.tenant), counts.tenant);
  putCount(rows, storeKey(RowKind.TotalCount), counts.total);
}

/** Which quota would be overdrawn, the tenant's looked at first. */
export function findOverdrawn(
  counts: ShardCounts,
  additional: number,
  limits: ShardLimits,
): OverdrawnLimit | undefined {
  if (additional === 0) return undefined;
  const quota = (scope: ShardLimitScope, current: number, max: number) =>
    current + additional > max ? { scope, current, additional, max } : undefined;
  return (
    quota("PerTenant", counts.tenant, limits.maxShardsPerTenant) ?? quota("Global", counts.total, limits.maxShardsTotal)
  );
}

/** Counts with some shards more, or fewer. Never below none: a count that was wrong must not stop a removal half-way. */
export function plus({ run, tenant, total }: ShardCounts, additional: number): ShardCounts {
  const sum = (count: number) => Math.max(0, count + additional);
  return { run: sum(run), tenant: sum(tenant), total: sum(total) };
}

/** What a row says that should hold a count; -1 where it holds none. For those who look for such rows. */
export function storedCount(value: Uint8Array): number {
  return value.length === U64_SIZE ? Number(readU64(value, 0)) : -1;
}

export function readCount(rows: Rows, key: Buffer): number {
  const value = rows.get(key);
  return value === undefined ? 0 : Number(readU64(value, 0));
}

/** A count of none has no row. */
export function putCount(rows: Rows, key: Buffer, count: number): void {
  if (count === 0) {
    rows.remove(key);
    return;
  }
  const bytes = Buffer.allocUnsafe(U64_SIZE);
  writeU64(bytes, BigInt(count), 0);
  rows.put(key, bytes);
}
