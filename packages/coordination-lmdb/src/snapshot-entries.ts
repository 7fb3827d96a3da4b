import { setImmediate } from "node:timers/promises";
import type { KeyRange, RowEntry, Rows, Snapshot } from "./rows.ts";
import type { UnderWay } from "./under-way.ts";

/** Rows that are walked over before others get their turn: about a millisecond. */
const ROWS_PER_TURN = 256;

/** Throw where the store is being closed. For those who answer what is thrown. */
export function assertOpen(underWay: UnderWay): void {
  if (underWay.isEnding) throw new Error("the store is closed");
}

/** The rows as they were at one moment. Pages that are freed meanwhile are kept, so that a long look makes the file grow. */
export class SnapshotEntries {
  readonly #rows: Rows;
  readonly #underWay: UnderWay;
  readonly #snapshot: Snapshot;

  constructor(rows: Rows, underWay: UnderWay) {
    this.#rows = rows;
    this.#underWay = underWay;
    this.#snapshot = rows.holdSnapshot();
  }

  /** The value of a key, looked up as every operation does. */
  get(key: Buffer): Uint8Array | undefined {
    assertOpen(this.#underWay);
    return this.#rows.getAt(this.#snapshot, key);
  }

  /** Rows of a range, to be gone over at once: nothing may be waited for in between. */
  of(range: KeyRange): Iterable<RowEntry> {
    assertOpen(this.#underWay);
    return this.#rows.entriesAt(this.#snapshot, range);
  }

  /** Rows of a range of any size, however long it takes: the event loop goes on in between, and closing the store ends it. */
  async *walk(range: KeyRange): AsyncGenerator<RowEntry> {
    let count = 0;
    for (const entry of this.of(range)) {
      yield entry;
      if (++count % ROWS_PER_TURN === 0) await setImmediate();
      assertOpen(this.#underWay);
    }
  }

  close(): void {
    this.#snapshot.done();
  }
}
