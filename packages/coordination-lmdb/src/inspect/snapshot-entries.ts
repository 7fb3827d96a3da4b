import { setImmediate } from "node:timers/promises";
import type { PendingTasks } from "@gossip/store-kit";
import type { KeyRange, RowEntry, Rows, Snapshot } from "../engine/rows.ts";

/** Rows that are walked over before others get their turn: about a millisecond. */
const ROWS_PER_TURN = 256;

/** Throw where the store is being closed. For those who answer what is thrown. */
export function assertOpen(pending: PendingTasks): void {
  if (pending.isEnding) throw new Error("the store is closed");
}

/** The rows as they were at one moment. Pages that are freed meanwhile are kept, so that a long look makes the file grow. */
export class SnapshotEntries {
  readonly #rows: Rows;
  readonly #pending: PendingTasks;
  readonly #snapshot: Snapshot;

  constructor(rows: Rows, pending: PendingTasks) {
    this.#rows = rows;
    this.#pending = pending;
    this.#snapshot = rows.holdSnapshot();
  }

  /** The value of a key, looked up as every operation does. */
  get(key: Buffer): Uint8Array | undefined {
    assertOpen(this.#pending);
    return this.#rows.getAt(this.#snapshot, key);
  }

  /** Rows of a range, to be gone over at once: nothing may be waited for in between. */
  of(range: KeyRange): Iterable<RowEntry> {
    assertOpen(this.#pending);
    return this.#rows.entriesAt(this.#snapshot, range);
  }

  /** Rows of a range of any size, however long it takes: the event loop goes on in between, and closing the store ends it. */
  async *walk(range: KeyRange): AsyncGenerator<RowEntry> {
    let count = 0;
    for (const entry of this.of(range)) {
      yield entry;
      if (++count % ROWS_PER_TURN === 0) await setImmediate();
      assertOpen(this.#pending);
    }
  }

  close(): void {
    this.#snapshot.done();
  }
}
