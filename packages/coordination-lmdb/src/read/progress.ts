import type { ShardId, ShardStatus } from "@gossip/contracts";
import type { RunMoment, RunProgress } from "@gossip/coordination";
import type { StatusCounts } from "@gossip/coordination-fsck";
import { compareBytes } from "@gossip/stdx";
import type { RunAddress } from "@gossip/store-kit";
import { readRunCount } from "../write/counts.ts";
import { readStatusCounts } from "../write/status-counts.ts";
import { lastU64, RowKind, runKey } from "../layout/keyspace.ts";
import { claimsFrom, freeFrom, statusPrefix } from "../layout/entry-key.ts";
import type { RecordRows } from "./record-rows.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";

/** Counts a run's shards that are not active, from the indexes. A shard in none of them is done. */
export function countStatuses(rows: Rows, address: RunAddress): StatusCounts {
  const active = rows.count(rangeOf(runKey(RowKind.Claim, address)));
  const Split = rows.count(rangeOf(statusPrefix(address, "Split")));
  const Parked = rows.count(rangeOf(statusPrefix(address, "Parked")));
  return { Done: readRunCount(rows, address) - active - Split - Parked, Split, Parked };
}

/** A run without status counts is older than they are: its shards are counted. */
function statusCounts(rows: Rows, address: RunAddress): StatusCounts {
  return readStatusCounts(rows, address) ?? countStatuses(rows, address);
}

/** Whether a run has a shard in a status. */
export function hasShardIn(rows: Rows, address: RunAddress, status: ShardStatus): boolean {
  switch (status) {
    case "Active":
      return rows.first(rangeOf(runKey(RowKind.Claim, address))) !== undefined;
    case "Split":
    case "Parked":
      return rows.first(rangeOf(statusPrefix(address, status))) !== undefined;
    case "Done":
      return statusCounts(rows, address).Done > 0;
  }
}

/**
 * Reads the status counts of a run, counts its leases, and finds its watermark.
 *
 * The cost grows with the number of shards that are held or were released with progress, and not with the others.
 */
export function readProgress(rows: Rows, records: RecordRows, moment: RunMoment): RunProgress {
  const { Done: done, Split: split, Parked: parked } = statusCounts(rows, moment);
  const held = { start: claimsFrom(moment, moment.now + 1n), end: rangeOf(runKey(RowKind.Claim, moment)).end };
  const watermark = findWatermark(rows, records, moment);
  const total = readRunCount(rows, moment);
  const active = total - done - split - parked;
  return { total, active, done, split, parked, leased: rows.count(held), watermark };
}

/** The lowest last key of the active shards. */
function findWatermark(rows: Rows, records: RecordRows, address: RunAddress): Uint8Array | undefined {
  // Free shards with progress, then all shards with a lease, expired or not. They are neighbors in the index.
  const begun = { start: freeFrom(address, true), end: rangeOf(runKey(RowKind.Claim, address)).end };
  let least: Uint8Array | undefined;
  for (const key of rows.keys(begun)) {
    const { lastKey } = records.readListed(address, lastU64(key) as ShardId).cursor;
    if (lastKey !== undefined && (least === undefined || compareBytes(lastKey, least) < 0)) least = lastKey;
  }
  return least;
}
