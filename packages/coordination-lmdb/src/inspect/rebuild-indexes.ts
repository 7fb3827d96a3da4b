import type { ShardId, ShardStatus } from "@gossip/contracts";
import { decodeShardRecord } from "@gossip/coordination-codec";
import { StatusCounts, type RebuiltIndexes } from "@gossip/coordination-fsck";
import type { PendingTasks, RunAddress } from "@gossip/store-kit";
import { addMissingCensus } from "../write/census.ts";
import { putCount, storedCount } from "../write/counts.ts";
import { INDEX_KINDS, indexEntryOf, listAddresses } from "./inspected-rows.ts";
import { lastU64, RowKind, runKey, storeKey, tenantKey, tenantOf } from "../layout/keyspace.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";
import { shardEntries } from "../layout/shard-rows.ts";
import { isCounted, readStatusCounts, setStatusCounts } from "../write/status-counts.ts";
import { assertOpen, SnapshotEntries } from "./snapshot-entries.ts";

/** The differences between the indexes of a run and its records. */
interface Difference {
  readonly missing: readonly Buffer[];
  readonly stray: readonly Buffer[];
  /** All shards that exist, readable or not. */
  readonly shards: readonly ShardId[];
  /** `undefined` if a shard cannot be read. */
  readonly statusCounts: StatusCounts | undefined;
}

/**
 * Rebuilds indexes and counts from the records, one run at a time, and writes the censuses of runs that have none.
 *
 * Each run is one transaction, so other writers wait for it: some seconds for a million shards. The entries of a shard
 * that cannot be read stay as they are.
 */
export async function rebuildIndexes(rows: Rows, pending: PendingTasks): Promise<RebuiltIndexes> {
  const rebuilt = { removedEntries: 0, addedEntries: 0, correctedCounts: 0, addedCensuses: 0 };
  const entries = new SnapshotEntries(rows, pending);
  const addresses = listAddresses(entries);
  entries.close();
  for (const address of addresses) {
    assertOpen(pending);
    await rows.commit(() => {
      // Rows of a removed run are only waiting for the sweeper.
      if (rows.has(runKey(RowKind.Unswept, address))) return;
      const { missing, stray, shards, statusCounts } = findDifference(rows, address);
      for (const key of stray) rows.remove(key);
      for (const key of missing) rows.put(key);
      rebuilt.removedEntries += stray.length;
      rebuilt.addedEntries += missing.length;
      rebuilt.correctedCounts += correctCount(rows, runKey(RowKind.RunCount, address), shards.length);
      rebuilt.correctedCounts += correctStatusCounts(rows, address, statusCounts);
      rebuilt.addedCensuses += addMissingCensus(rows, address, shards);
    });
  }
  // Sums of the counts of the runs, which are correct now and stay so.
  await rows.commit(() => {
    rebuilt.correctedCounts += correctSums(rows);
  });
  return rebuilt;
}

function findDifference(rows: Rows, address: RunAddress): Difference {
  const actual = new Map<string, Buffer>();
  for (const kind of INDEX_KINDS) {
    for (const key of rows.keys(rangeOf(runKey(kind, address)))) actual.set(nameOf(key), key);
  }
  const expected = new Map<string, Buffer>();
  const unreadable = new Set<ShardId>();
  const shards: ShardId[] = [];
  const statuses: { readonly status: ShardStatus }[] = [];
  for (const { key, value } of rows.entries(rangeOf(runKey(RowKind.ShardRecord, address)))) {
    const record = decodeShardRecord(value);
    const shard = lastU64(key) as ShardId;
    shards.push(shard);
    if (!record.ok || record.value.shard !== shard) unreadable.add(shard);
    else {
      statuses.push({ status: record.value.status });
      for (const entry of shardEntries(address, record.value)) expected.set(nameOf(entry), entry);
    }
  }
  const isUnjudged = (key: Buffer) => {
    const { shard } = indexEntryOf(key);
    return shard === undefined ? unreadable.size > 0 : unreadable.has(shard);
  };
  return {
    missing: [...expected].filter(([name]) => !actual.has(name)).map(([, key]) => key),
    stray: [...actual].filter(([name, key]) => !expected.has(name) && !isUnjudged(key)).map(([, key]) => key),
    shards,
    statusCounts: unreadable.size > 0 ? undefined : StatusCounts.of(statuses),
  };
}

/** Returns how many of the three were wrong. Writes missing ones, unless an older version may still write. */
function correctStatusCounts(rows: Rows, address: RunAddress, counted: StatusCounts | undefined): number {
  if (counted === undefined || !rows.has(runKey(RowKind.RunHead, address))) return 0;
  const stored = readStatusCounts(rows, address);
  if (stored === undefined ? !isCounted(rows) : StatusCounts.isEqual(stored, counted)) return 0;
  setStatusCounts(rows, address, counted);
  return stored === undefined ? 0 : StatusCounts.differences(stored, counted);
}

function correctSums(rows: Rows): number {
  const sums = new Map<string, { readonly key: Buffer; sum: number }>();
  let total = 0;
  // A tenant without shards must not keep a count.
  for (const key of rows.keys(rangeOf(storeKey(RowKind.TenantCount)))) {
    sums.set(tenantOf(key), { key: tenantKey(RowKind.TenantCount, tenantOf(key)), sum: 0 });
  }
  for (const { key, value } of rows.entries(rangeOf(storeKey(RowKind.RunCount)))) {
    const tenant = tenantOf(key);
    const count = storedCount(value);
    const known = sums.get(tenant) ?? { key: tenantKey(RowKind.TenantCount, tenant), sum: 0 };
    known.sum += count;
    total += count;
    sums.set(tenant, known);
  }
  let corrected = correctCount(rows, storeKey(RowKind.TotalCount), total);
  for (const { key, sum } of sums.values()) corrected += correctCount(rows, key, sum);
  return corrected;
}

/** Writes a count if it differs. Returns the number of counts written: 1 or 0. */
function correctCount(rows: Rows, key: Buffer, count: number): number {
  const stored = rows.get(key);
  if ((stored === undefined ? 0 : storedCount(stored)) === count) return 0;
  putCount(rows, key, count);
  return 1;
}

function nameOf(key: Buffer): string {
  return Buffer.from(key).toString("latin1");
}
