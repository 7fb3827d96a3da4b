import type { ShardId } from "@gossip/contracts";
import { RunCensus } from "@gossip/coordination-fsck";
import type { RunAddress } from "@gossip/store-kit";
import { RowKind, runKey } from "../layout/keyspace.ts";
import type { Rows } from "../engine/rows.ts";

/** A run's census. `undefined` if it has none, or if what is stored is none. */
export function readCensus(rows: Rows, address: RunAddress): RunCensus | undefined {
  const bytes = rows.get(runKey(RowKind.Census, address));
  return bytes && RunCensus.tryFromBytes(bytes);
}

/**
 * Count new shards in. Only within the transaction that creates them. `hasShards` tells whether the run had any before.
 *
 * A run that has shards and no census is from before there were any: it stays without one until it is repaired.
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

/** Write the census of a run that has none, from the shards that are there. Returns how many were written: one or none. */
export function addMissingCensus(rows: Rows, address: RunAddress, shards: readonly ShardId[]): number {
  const key = runKey(RowKind.Census, address);
  if (shards.length === 0 || rows.has(key) || !rows.has(runKey(RowKind.RunHead, address))) return 0;
  writeCensus(rows, address, RunCensus.of(shards));
  return 1;
}

function writeCensus(rows: Rows, address: RunAddress, census: RunCensus): void {
  rows.put(runKey(RowKind.Census, address), RunCensus.toBytes(census));
}
