import type { TenantId } from "@gossip/contracts";
import type { QuotaCounts, RunAddress } from "@gossip/store-kit";
import { readU64, RowKind, runKey, storeKey, tenantKey, U64_SIZE, writeU64 } from "../layout/keyspace.ts";
import type { Rows } from "../engine/rows.ts";

/** How many shards exist: of a run, of its tenant, and in the store. They change when shards are created or removed. */
export interface ShardCounts extends QuotaCounts {
  readonly run: number;
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

/** Write all three, within the transaction that read them. */
export function writeCounts(rows: Rows, address: RunAddress, counts: ShardCounts): void {
  putCount(rows, runKey(RowKind.RunCount, address), counts.run);
  putCount(rows, tenantKey(RowKind.TenantCount, address.tenant), counts.tenant);
  putCount(rows, storeKey(RowKind.TotalCount), counts.total);
}

/** Adds a number of shards, which may be negative. Never goes below zero: a wrong count must not stop a removal. */
export function plus({ run, tenant, total }: ShardCounts, additional: number): ShardCounts {
  const sum = (count: number) => Math.max(0, count + additional);
  return { run: sum(run), tenant: sum(tenant), total: sum(total) };
}

/** The count in a row, or -1 if the row holds none. For fsck. */
export function storedCount(value: Uint8Array): number {
  return value.length === U64_SIZE ? Number(readU64(value, 0)) : -1;
}

export function readCount(rows: Rows, key: Buffer): number {
  const value = rows.get(key);
  return value === undefined ? 0 : Number(readU64(value, 0));
}

/** A count of zero has no row. */
export function putCount(rows: Rows, key: Buffer, count: number): void {
  if (count === 0) {
    rows.remove(key);
    return;
  }
  const bytes = Buffer.allocUnsafe(U64_SIZE);
  writeU64(bytes, BigInt(count), 0);
  rows.put(key, bytes);
}
