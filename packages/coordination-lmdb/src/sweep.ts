import { RowKind, addressOf, runKey, type RunAddress } from "./keyspace.ts";
import { reasonOf } from "./lmdb-failure.ts";
import { rangeOf, type Rows } from "./rows.ts";

/** Most rows that one transaction sweeps away: some ten milliseconds. */
export const SWEEP_SIZE = 4096;

/** Kinds of rows of which a run has many. */
const SWEPT_KINDS = [RowKind.Claim, RowKind.Status, RowKind.Order, RowKind.ShardRecord, RowKind.Note] as const;

/** Remove up to `limit` of what a removed run has left. Whether that was all of it. Only within a transaction. */
export function sweepRows(rows: Rows, address: RunAddress, limit: number): boolean {
  let room = limit;
  for (const kind of SWEPT_KINDS) {
    // All keys first: removing under a cursor moves it.
    const keys = [...rows.keys(rangeOf(runKey(kind, address)), { limit: room })];
    for (const key of keys) rows.remove(key);
    room -= keys.length;
    if (room === 0) return false;
  }
  return true;
}

/**
 * Sweeps away what removed runs have left, a piece at a time, behind everything else.
 *
 * Its work is in the store: a row for each run that is not yet swept. Whoever opens the store next, or
 * removes a run, goes on where a process was killed. Two that sweep the same run only
 * find less to do.
 */
export class Sweeper {
  readonly #rows: Rows;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Sweep until nothing is left, unless that is already under way. */
  start(): void {
    if (this.#isStopped || this.#running !== undefined) return;
    this.#running = this.#sweep().finally(() => {
      this.#running = undefined;
    });
  }

  /** Settles when nothing is under way. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Stop behind the piece that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #sweep(): Promise<void> {
    try {
      for (let address = this.#next(); address !== undefined && !this.#isStopped; address = this.#next()) {
        const left = address;
        await this.#rows.transact(() => {
          if (sweepRows(this.#rows, left, SWEEP_SIZE)) this.#rows.remove(runKey(RowKind.Unswept, left));
        });
      }
    } catch (thrown) {
      // A full disk, or a store that is being closed. The rows are still there, and so is the note of them.
      await reasonOf(thrown);
    }
  }

  #next(): RunAddress | undefined {
    this.#rows.refresh();
    const key = this.#rows.first(rangeOf(Buffer.of(RowKind.Unswept)));
    return key && addressOf(key);
  }
}
