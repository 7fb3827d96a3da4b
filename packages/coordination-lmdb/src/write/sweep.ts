import type { RunAddress } from "@gossip/store-kit";
import { reasonOf } from "../engine/lmdb-failure.ts";
import { assertAfter, KeysOutOfOrder } from "../engine/key-order.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";
import { addressOf, RowKind, runKey, storeKey } from "../layout/keyspace.ts";

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

/**
 * Remove up to `limit` rows of a removed run, within a transaction. Returns whether none is left. Throws if a row stays:
 * in a damaged file a walk may find a row that a lookup does not, and the caller would try to remove it forever.
 */
export function sweepRows(rows: Rows, address: RunAddress, limit: number): boolean {
  let room = limit;
  for (const kind of SWEPT_KINDS) {
    const range = rangeOf(runKey(kind, address));
    // Collect the keys first: removing a row moves the cursor.
    const keys = [...rows.keys(range, { limit: room })];
    for (const key of keys) rows.remove(key);
    const left = keys.length === 0 ? undefined : rows.first(range);
    if (left !== undefined) assertAfter(keys.at(-1)!, left);
    room -= keys.length;
    if (room === 0) return false;
  }
  return true;
}

const UNSWEPT = /* @__PURE__ */ rangeOf(/* @__PURE__ */ storeKey(RowKind.Unswept));

/**
 * Remove the rows of removed runs, piece by piece.
 *
 * The queue is in the store: a row for each run that is not swept yet. If a process is killed, the next one that opens
 * the store or removes a run continues. Two processes may sweep the same run.
 */
export async function sweepRuns(rows: Rows, isStopped: () => boolean): Promise<void> {
  for (let mark = nextMark(rows); mark !== undefined && !isStopped(); mark = nextMark(rows)) {
    const swept = mark;
    try {
      await rows.commit(() => {
        if (!sweepRows(rows, addressOf(swept), SWEEP_SIZE)) return;
        rows.remove(swept);
        // It cannot be looked up, and would be the next one forever.
        if (rows.first(UNSWEPT)?.equals(swept) === true) throw new KeysOutOfOrder();
      });
    } catch (thrown) {
      // The disk is full or the engine failed. The reason has a promise of its own, which must be awaited.
      throw await reasonOf(thrown);
    }
  }
}

/** The key of the row that says that a run is to be swept. */
function nextMark(rows: Rows): Buffer | undefined {
  rows.refresh();
  return rows.first(UNSWEPT);
}
