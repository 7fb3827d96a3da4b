import type { ShardId } from "@gossip/contracts";
import { RunCensus } from "@gossip/coordination-fsck";
import type { RunAddress } from "@gossip/store-kit";
import { RowKind, runKey } from "../layout/keyspace.ts";
import type { Rows } from "../engine/rows.ts";

/** The census of a run; `undefined` if it has none, or if it cannot be read. */
export function readCensus(rows: Rows, address: RunAddress): RunCensus | undefined {
  const bytes = rows.get(runKey(RowKind.Census, address));
  return bytes && RunCensus.tryFromBytes(bytes);
}

/**
 * Adds new shards to the census, within the transaction that creates them. `hasShards`: whether the run had any before.
 *
 * A run with shards and without a census is older than the census and gets one only from a repair.
 */
export function countIn(
  rows: Rows,
  address: RunAddress,
  { added, hasShards }: { readonly added: RunCensus; readonly hasShards: boolean },
): void {
  const census = readCensus(rows, address) ?? (hasShards ? undefined : RunCensus.NONE);
  if (census === undefined) return;
  writeCensus(rows, address, RunCensus.sum(census, added));
}

/**
 * Writes the census of a run that has none, from the shards that exist. Returns the number of censuses written: 1 or 0.
 */
export function addMissingCensus(rows: Rows, address: RunAddress, shards: readonly ShardId[]): number {
  const key = runKey(RowKind.Census, address);
  if (shards.length === 0 || rows.has(key) || !rows.has(runKey(RowKind.RunHead, address))) return 0;
  writeCensus(rows, address, RunCensus.of(shards));
  return 1;
}

function writeCensus(rows: Rows, address: RunAddress, census: RunCensus): void {
  rows.put(runKey(RowKind.Census, address), RunCensus.toBytes(census));
}
