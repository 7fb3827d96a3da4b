import type { RunAddress } from "@gossip/store-kit";
import { reasonOf } from "../engine/lmdb-failure.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";
import { addressOf, RowKind, runKey } from "../layout/keyspace.ts";

/** Maximum number of rows that one transaction removes: about ten milliseconds. */
export const SWEEP_SIZE = 4096;

/** Kinds of rows of which a run has many. */
const SWEPT_KINDS = [
  RowKind.StatusCount,
  RowKind.Claim,
  RowKind.Status,
  RowKind.Order,
  RowKind.ShardRecord,
  RowKind.Note,
] as const;

/** Remove up to `limit` rows of a removed run, within a transaction. Returns whether none is left. */
export function sweepRows(rows: Rows, address: RunAddress, limit: number): boolean {
  let room = limit;
  for (const kind of SWEPT_KINDS) {
    // Collect the keys first: removing a row moves the cursor.
    const keys = [...rows.keys(rangeOf(runKey(kind, address)), { limit: room })];
    for (const key of keys) rows.remove(key);
    room -= keys.length;
    if (room === 0) return false;
  }
  return true;
}

/**
 * Remove the rows of removed runs, piece by piece.
 *
 * The queue is in the store: a row for each run that is not swept yet. If a process is killed, the next one that opens
 * the store or removes a run continues. Two processes may sweep the same run.
 */
export async function sweepRuns(rows: Rows, isStopped: () => boolean): Promise<void> {
  for (let address = nextRun(rows); address !== undefined && !isStopped(); address = nextRun(rows)) {
    const left = address;
    try {
      await rows.transact(() => {
        if (sweepRows(rows, left, SWEEP_SIZE)) rows.remove(runKey(RowKind.Unswept, left));
      });
    } catch (thrown) {
      // The disk is full or the engine failed. The reason has a promise of its own, which must be awaited.
      throw await reasonOf(thrown);
    }
  }
}

function nextRun(rows: Rows): RunAddress | undefined {
  rows.refresh();
  const key = rows.first(rangeOf(Buffer.of(RowKind.Unswept)));
  return key && addressOf(key);
}
