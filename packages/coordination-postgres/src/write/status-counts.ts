import type { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { StatusCounts } from "@gossip/coordination-fsck";
import type { Connection } from "../database/database.ts";
import { shardIdOf } from "../layout/rows.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";
import {
  ADD_RESTING,
  LIST_LOST_COUNTS,
  LIST_RESTING,
  READ_STATUS_COUNTS,
  REMOVE_LOST_COUNTS,
  REMOVE_RESTING,
  WRITE_STATUS_COUNTS,
} from "../sql/status-counts.ts";

/** Tables before version 6 have neither status counts nor resting shards. They may be migrated while this process runs. */
export const STATUS_COUNTS = "status_counts";
export const STATUS_COUNTS_SINCE = 6;

/** Whether a shard rests: it is active, without a lease, and has a cursor. */
export function isResting({ status, lease, cursor }: ShardRecord): boolean {
  return status === "Active" && lease === undefined && cursor.lastKey !== undefined;
}

/** The status counts of a run; `undefined` if the tables have none. */
export async function readStatusCounts(connection: Connection, runId: string): Promise<StatusCounts | undefined> {
  if (!(await connection.hasTable(STATUS_COUNTS))) return undefined;
  const [row] = await connection.run<Record<"done" | "split" | "parked", string>>(READ_STATUS_COUNTS, [runId]);
  return { Done: Number(row!.done), Split: Number(row!.split), Parked: Number(row!.parked) };
}

/** The resting shards of a run as they are stored. */
export async function listResting(connection: Connection, runId: string): Promise<readonly ShardId[]> {
  if (!(await connection.hasTable(STATUS_COUNTS))) return [];
  return (await connection.run<{ shard: Buffer }>(LIST_RESTING, [runId])).map(({ shard }) => shardIdOf(shard));
}

/** Makes the status counts of a run, whose shards are locked, those of its records. Returns how many were wrong. */
export async function correctStatusCounts(
  connection: Connection,
  runId: string,
  counted: StatusCounts,
): Promise<number> {
  const stored = await readStatusCounts(connection, runId);
  if (stored === undefined || StatusCounts.isEqual(stored, counted)) return 0;
  await connection.run(WRITE_STATUS_COUNTS, [runId, counted.Done, counted.Split, counted.Parked]);
  return StatusCounts.differences(stored, counted);
}

/** Makes the resting shards of a run, whose shards are locked, exactly these. */
export async function correctResting(
  connection: Connection,
  runId: string,
  { expected, unreadable }: { readonly expected: ReadonlySet<ShardId>; readonly unreadable: ReadonlySet<ShardId> },
): Promise<{ readonly removed: number; readonly added: number }> {
  if (!(await connection.hasTable(STATUS_COUNTS))) return { removed: 0, added: 0 };
  const stored = new Set(await listResting(connection, runId));
  const stray = [...stored].filter((shard) => !expected.has(shard) && !unreadable.has(shard));
  const missing = [...expected].filter((shard) => !stored.has(shard));
  for (const shard of stray) await connection.run(REMOVE_RESTING, [runId, u64Bytes(shard)]);
  for (const shard of missing) await connection.run(ADD_RESTING, [runId, u64Bytes(shard)]);
  return { removed: stray.length, added: missing.length };
}

/** Numbers of runs that have counts or resting shards but no row. */
export async function listLostCounts(connection: Connection): Promise<readonly string[]> {
  if (!(await connection.hasTable(STATUS_COUNTS))) return [];
  return (await connection.run<{ id: string }>(LIST_LOST_COUNTS, [])).map(({ id }) => id);
}

/** Removes what is left of runs that do not exist, and returns how many entries and counts that were. */
export async function removeLostCounts(
  connection: Connection,
): Promise<{ readonly resting: number; readonly counts: number }> {
  if (!(await connection.hasTable(STATUS_COUNTS))) return { resting: 0, counts: 0 };
  const [row] = await connection.run<{ resting: number; counts: number }>(REMOVE_LOST_COUNTS, []);
  return row!;
}
