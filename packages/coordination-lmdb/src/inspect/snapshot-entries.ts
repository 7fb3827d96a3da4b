import { setImmediate } from "node:timers/promises";
import type { PendingTasks } from "@gossip/store-kit";
import { codeOf } from "../engine/engine-codes.ts";
import type { KeyRange, RowEntry, Rows, Snapshot } from "../engine/rows.ts";

/** Rows to read before the event loop continues: about a millisecond. */
const ROWS_PER_TURN = 256;

/** Throws if the store is being closed. */
export function assertOpen(pending: PendingTasks): void {
  if (pending.isEnding) throw new Error("the store is closed");
}

/** The rows as they were at one moment. Freed pages are kept meanwhile, so a long check makes the file grow. */
export class SnapshotEntries {
  readonly #rows: Rows;
  readonly #pending: PendingTasks;
  readonly #snapshot: Snapshot;

  constructor(rows: Rows, pending: PendingTasks) {
    this.#rows = rows;
    this.#pending = pending;
    this.#snapshot = rows.holdSnapshot();
  }

  /** The value of a key, looked up the way every operation does it. */
  get(key: Buffer): Uint8Array | undefined {
    assertOpen(this.#pending);
    try {
      return this.#rows.getAt(this.#snapshot, key);
    } catch (thrown) {
      throw namedDamage(thrown);
    }
  }

  /** Rows of a range. Do not await anything while iterating. */
  of(range: KeyRange): Iterable<RowEntry> {
    assertOpen(this.#pending);
    return withDamageNamed(this.#rows.entriesAt(this.#snapshot, range));
  }

  /** Rows of a range of any size. The event loop continues in between, and closing the store ends the walk. */
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

function* withDamageNamed(entries: Iterable<RowEntry>): Generator<RowEntry, void> {
  try {
    yield* entries;
  } catch (thrown) {
    throw namedDamage(thrown);
  }
}

/**
 * The engine ends a transaction that only reads when it finds damage, and the driver may report only that it has ended.
 */
function namedDamage(thrown: unknown): unknown {
  if (codeOf(thrown) !== "MDB_BAD_TXN") return thrown;
  return Object.assign(new Error("the engine found damage", { cause: thrown }), { code: "MDB_CORRUPTED" });
}
