import type { ShardId } from "@gossip/contracts";
import { RunCensus } from "@gossip/coordination-fsck";
import type { Connection } from "../database/database.ts";
import {
  ADD_TO_CENSUS,
  BEGIN_CENSUS,
  LIST_LOST_CENSUSES,
  READ_CENSUS,
  REMOVE_CENSUS,
  WRITE_CENSUS,
} from "../sql/census.ts";

// The tables of version 3 have no censuses. They may be migrated while this process runs, so each transaction checks until the table exists.

/** Adds new shards to the census of their run, which is locked. `isEmpty`: they are its first. */
export async function addToCensus(
  connection: Connection,
  runId: number,
  { shards, isEmpty }: { readonly shards: Iterable<ShardId>; readonly isEmpty: boolean },
): Promise<void> {
  if (!(await connection.hasTable("censuses"))) return;
  const { count, digest } = RunCensus.of(shards);
  await connection.run(isEmpty ? BEGIN_CENSUS : ADD_TO_CENSUS, [runId, count, String(digest)]);
}

export async function removeCensus(connection: Connection, runId: number): Promise<void> {
  if (await connection.hasTable("censuses")) await connection.run(REMOVE_CENSUS, [runId]);
}

/** Writes the census of a run that has none, and returns whether it did. */
export async function writeMissingCensus(
  connection: Connection,
  runId: string,
  shards: Iterable<ShardId>,
): Promise<boolean> {
  if (!(await connection.hasTable("censuses"))) return false;
  const { count, digest } = RunCensus.of(shards);
  return (await connection.run(WRITE_CENSUS, [runId, count, String(digest)])).length > 0;
}

/**
 * The census of a run; `undefined` if there is none, or it is outdated.
 *
 * `shardCount`: the count in the run's row. If it is higher than the census, a process of a version without censuses has added shards,
 * and the census is outdated.
 */
export async function readCensus(
  connection: Connection,
  runId: string,
  shardCount: number,
): Promise<RunCensus | undefined> {
  if (!(await connection.hasTable("censuses"))) return undefined;
  const [row] = await connection.run<{ shard_count: string; digest: string }>(READ_CENSUS, [runId]);
  if (row === undefined || Number(row.shard_count) < shardCount) return undefined;
  return { count: Number(row.shard_count), digest: BigInt(row.digest) };
}

/** Numbers of runs that have a census but no row. */
export async function listLostCensuses(connection: Connection): Promise<readonly string[]> {
  if (!(await connection.hasTable("censuses"))) return [];
  return (await connection.run<{ id: string }>(LIST_LOST_CENSUSES, [])).map(({ id }) => id);
}
