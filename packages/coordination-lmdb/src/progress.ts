import type { ShardId, ShardStatus } from "@gossip/contracts";
import type { RunMoment, RunProgress } from "@gossip/coordination";
import type { InfraError } from "@gossip/coordination-errors";
import { compareBytes, ok, type Result } from "@gossip/stdx";
import { readRunCount } from "./counts.ts";
import { lastU64, RowKind, runKey, type RunAddress } from "./keyspace.ts";
import { claimsFrom, freeFrom, statusPrefix } from "./place-key.ts";
import type { RecordRows } from "./record-rows.ts";
import { rangeOf, type Rows } from "./rows.ts";

/** A run's shards by state, counted from the indexes. What is in none of them is done. */
export function countStates(rows: Rows, address: RunAddress): Record<ShardStatus, number> {
  const Active = rows.count(rangeOf(runKey(RowKind.Claim, address)));
  const Split = rows.count(rangeOf(statusPrefix(address, "Split")));
  const Parked = rows.count(rangeOf(statusPrefix(address, "Parked")));
  return { Active, Done: readRunCount(rows, address) - Active - Split - Parked, Split, Parked };
}

/** Whether a run has a shard in a state. Only of what is done must something be counted. */
export function hasShardIn(rows: Rows, address: RunAddress, status: ShardStatus): boolean {
  switch (status) {
    case "Active":
      return rows.first(rangeOf(runKey(RowKind.Claim, address))) !== undefined;
    case "Split":
    case "Parked":
      return rows.first(rangeOf(statusPrefix(address, status))) !== undefined;
    case "Done":
      return countStates(rows, address).Done > 0;
  }
}

/**
 * How a run stands.
 *
 * Nothing is decoded but active shards that somebody has worked on: those that are held, and those that were begun and
 * given back. Counting goes over keys alone, at some ten million a second.
 */
export function readProgress(rows: Rows, records: RecordRows, moment: RunMoment): Result<RunProgress, InfraError> {
  const { Active: active, Done: done, Split: split, Parked: parked } = countStates(rows, moment);
  const held = { start: claimsFrom(moment, moment.now + 1n), end: rangeOf(runKey(RowKind.Claim, moment)).end };
  const watermark = findWatermark(rows, records, moment);
  if (!watermark.ok) return watermark;
  const total = active + done + split + parked;
  return ok({ total, active, done, split, parked, leased: rows.count(held), watermark: watermark.value });
}

/** The least key that an active shard has come to. */
function findWatermark(
  rows: Rows,
  records: RecordRows,
  address: RunAddress,
): Result<Uint8Array | undefined, InfraError> {
  // Begun and free, then everything that has a lease, lapsed or not: neighbours in the index.
  const begun = { start: freeFrom(address, true), end: rangeOf(runKey(RowKind.Claim, address)).end };
  let least: Uint8Array | undefined;
  for (const key of rows.keys(begun)) {
    const record = records.readListed(address, lastU64(key) as ShardId);
    if (!record.ok) return record;
    const { lastKey } = record.value.cursor;
    if (lastKey !== undefined && (least === undefined || compareBytes(lastKey, least) < 0)) least = lastKey;
  }
  return ok(least);
}
