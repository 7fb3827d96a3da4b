import type { CommitAnswer, ShardRecord, ShardWrite } from "@gossip/coordination";
import { CONFLICT } from "@gossip/store-kit";
import { committed, whichWritten, type Candidate, type WrittenRow } from "./candidate.ts";
import type { Database } from "../database/database.ts";
import { int8Array, u64Array } from "../layout/server-array.ts";
import { encodeOne, updatedCursorColumns } from "../layout/shard-columns.ts";
import { ADVANCE_SHARD, ADVANCE_SHARDS } from "../sql/advance-shards.ts";
import { u64Bytes } from "../layout/u64-bytes.ts";
import type { UpdateParts } from "./update-parts.ts";

/**
 * Whether all candidates change only progress, and so neither the claim index nor the capacity of a run. The guards
 * ensure the previous state.
 */
export function areAdvances(candidates: readonly Candidate[]): boolean {
  return candidates.every(({ set, runGuard }) => runGuard === null && keepsClaimIndexEntry(set.shard));
}

function keepsClaimIndexEntry({ before, after }: ShardWrite): boolean {
  return (
    before.status === after.status &&
    before.parkReason === after.parkReason &&
    before.lease === after.lease &&
    before.fenceEpoch === after.fenceEpoch &&
    // A shard without a lease that gets a cursor begins to rest.
    (after.lease !== undefined || hasProgress(before) === hasProgress(after))
  );
}

function hasProgress({ cursor }: ShardRecord): boolean {
  return cursor.lastKey !== undefined;
}

/**
 * Writes only progress. Nearly every checkpoint of `runWorkers` takes this path.
 *
 * CPU of client and server together for a checkpoint, with this and with the general update: 46 and 54 µs at 64
 * sessions, 66 and 106 at 10, 370 and 574 at 1.
 */
export async function advanceShards(
  { database, capacities, encoder }: UpdateParts,
  candidates: readonly Candidate[],
): Promise<readonly CommitAnswer[]> {
  const looking = capacities.hintsFor(candidates);
  const writing =
    candidates.length === 1 ? advanceOne(database, candidates[0]!) : advanceMany({ database, encoder }, candidates);
  // In parallel: the write does not change what the other reads.
  const [isWritten, hints] = "then" in looking ? await Promise.all([writing, looking]) : [await writing, looking];
  return candidates.map((candidate, index) => (isWritten(index) ? committed(candidate, hints[index]) : CONFLICT));
}

async function advanceOne(database: Database, { guard, set }: Candidate): Promise<(index: number) => boolean> {
  const { after } = set.shard;
  const values = [
    guard.runId,
    u64Bytes(after.shard),
    guard.version,
    after.attempts,
    after.cursor.lastKey ?? null,
    encodeOne(after),
  ];
  const written = await database.change(ADVANCE_SHARD, values);
  return () => written === 1;
}

async function advanceMany(
  { database, encoder }: Pick<UpdateParts, "database" | "encoder">,
  candidates: readonly Candidate[],
): Promise<(index: number) => boolean> {
  const [row] = await database.run<WrittenRow>(ADVANCE_SHARDS, [
    int8Array(candidates.map(({ guard }) => guard.runId)),
    u64Array(candidates.map(({ set }) => set.shard.after.shard)),
    int8Array(candidates.map(({ guard }) => guard.version)),
    ...updatedCursorColumns(
      candidates.map(({ set }) => set.shard),
      encoder,
    ),
  ]);
  return whichWritten(row, candidates.length);
}
