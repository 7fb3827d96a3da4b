import { err, ok, startsWith, type Ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_REMEMBERED_MIGRATIONS } from "../limits.ts";
import {
  asEnded,
  copyMigration,
  isFinished,
  isSameMove,
  ownFinished,
  ownMigration,
  type FinishedMigration,
  type MigrationOutcome,
  type MigrationState,
} from "./migration.ts";
import type { MigrationError } from "./node-error.ts";
import { readBytes, type Bytes, prefixText } from "../text-bytes.ts";

/** A step that was executed or replayed. */
export interface MigrationStep {
  readonly outcome: "Executed" | "Replayed";
  readonly migrations: MigrationTable;
  readonly state: MigrationState;
}

export interface MigrationLists {
  readonly live: Iterable<MigrationState>;
  readonly migrated: Iterable<FinishedMigration>;
  readonly finished: Iterable<FinishedMigration>;
}

/** The first two by the text of the prefix; the last by id, in the order in which the moves finished. */
interface MigrationTableParts {
  readonly live: ReadonlyMap<string, MigrationState>;
  readonly migrated: ReadonlyMap<string, FinishedMigration>;
  readonly finished: ReadonlyMap<string, FinishedMigration>;
}

/**
 * The moves in progress and the finished ones. Immutable: a step makes a new table.
 *
 * A prefix is always in one of these states:
 *
 * - idle: `start` makes it migrating.
 * - migrating: `commit` makes it migrated, `abort` makes it idle.
 * - migrated: like idle, and its new owner is remembered. `start` moves it on.
 *
 * The table checks steps against each other. The snapshot knows whether a prefix is a scope, and who owns it.
 */
export class MigrationTable {
  static readonly EMPTY: MigrationTable = new MigrationTable({
    live: new Map(),
    migrated: new Map(),
    finished: new Map(),
  });

  readonly #parts: MigrationTableParts;

  private constructor(parts: MigrationTableParts) {
    this.#parts = parts;
  }

  /** A table of these moves: in progress, committed since the last reload, and finished, the oldest first. */
  static from(lists: MigrationLists): MigrationTable {
    assertObject(lists, "the lists of moves");
    const { live, migrated, finished } = lists;
    let table = MigrationTable.EMPTY;
    for (const state of finished) table = table.withFinished(state);
    return new MigrationTable({
      live: new Map([...live].map((state) => [prefixText(state.prefix), ownMigration(state)])),
      migrated: new Map([...migrated].map((state) => [prefixText(state.prefix), ownFinished(state)])),
      finished: table.#parts.finished,
    });
  }

  /** Moves in progress. */
  live(): MigrationState[] {
    return [...this.#parts.live.values()].map(copyMigration);
  }

  /** Finished moves that are still remembered, the oldest first. */
  finished(): FinishedMigration[] {
    return [...this.#parts.finished.values()].map(copyMigration);
  }

  /** The last committed move of each prefix since the last reload. */
  migrated(): FinishedMigration[] {
    return [...this.#parts.migrated.values()].map(copyMigration);
  }

  /** A move by its id. A finished one has an `outcome`. */
  get(id: string): MigrationState | FinishedMigration | undefined {
    const state = this.#get(id);
    return state && copyMigration(state);
  }

  /** The move in progress of exactly this prefix. */
  lookupMigrating(prefix: Bytes): MigrationState | undefined {
    const state = this.#parts.live.get(prefixText(readBytes(prefix, "prefix")));
    return state && copyMigration(state);
  }

  /** The last committed move of exactly this prefix since the last reload. */
  lookupMigrated(prefix: Bytes): FinishedMigration | undefined {
    const state = this.#parts.migrated.get(prefixText(readBytes(prefix, "prefix")));
    return state && copyMigration(state);
  }

  /** The move in progress of the longest prefix that covers the key. */
  matchMigrating(key: Bytes): MigrationState | undefined {
    return longestMatch(this.#parts.live.values(), readBytes(key, "key"));
  }

  /** The committed move, since the last reload, of the longest prefix that covers the key. */
  matchMigrated(key: Bytes): FinishedMigration | undefined {
    return longestMatch(this.#parts.migrated.values(), readBytes(key, "key"));
  }

  /** Start a move. Repeated while it is in progress, it changes nothing. */
  start(state: MigrationState): Result<MigrationStep, StartRefusal> {
    const own = ownMigration(state);
    const { id } = own;
    const known = this.#get(id);
    if (known !== undefined) {
      if (!isSameMove(known, own)) return err({ kind: "MigrationIdConflict", id });
      if (!isFinished(known)) return ok({ outcome: "Replayed", state: copyMigration(known), migrations: this });
      return err(asEnded(known));
    }
    const text = prefixText(own.prefix);
    const other = this.#parts.live.get(text);
    if (other !== undefined) return err({ kind: "AlreadyMigrating", id: other.id });

    const live = new Map(this.#parts.live).set(text, own);
    return ok({
      outcome: "Executed",
      state: copyMigration(own),
      migrations: new MigrationTable({ ...this.#parts, live }),
    });
  }

  /** Commit a move. Returns `undefined` for an unknown id. */
  commit(id: string): Result<MigrationStep | undefined, MigrationError<"Aborted">> {
    return this.#end(id, "Committed") ?? err({ kind: "Aborted", id });
  }

  /** Abort a move. Returns `undefined` for an unknown id. */
  abort(id: string): Result<MigrationStep | undefined, MigrationError<"AlreadyCommitted">> {
    return this.#end(id, "Aborted") ?? err({ kind: "AlreadyCommitted", id });
  }

  /** The same moves, without the migrated prefixes: after a reload, the table names their owners. */
  withoutMigrated(): MigrationTable {
    return new MigrationTable({ ...this.#parts, migrated: new Map() });
  }

  /** The same moves with this one finished, whether or not it was in progress here. */
  withFinished(state: FinishedMigration): MigrationTable {
    const over = ownFinished(state);
    const text = prefixText(over.prefix);
    const live = new Map(this.#parts.live);
    // An earlier move that is still here has ended unnoticed: numbers of a prefix only rise.
    if ((live.get(text)?.number ?? Number.POSITIVE_INFINITY) <= over.number) live.delete(text);
    const finished = new Map(this.#parts.finished).set(over.id, over);
    // A map keeps the order of insertion: the first is the oldest.
    for (const id of finished.keys()) {
      if (finished.size <= MAX_REMEMBERED_MIGRATIONS) break;
      finished.delete(id);
    }
    const migrated =
      over.outcome === "Committed" ? new Map(this.#parts.migrated).set(text, over) : this.#parts.migrated;
    return new MigrationTable({ live, migrated, finished });
  }

  /** Returns `undefined` if the move has the other outcome. */
  #end(id: string, outcome: MigrationOutcome): Ok<MigrationStep | undefined> | undefined {
    const known = this.#get(id);
    if (known === undefined) return ok(undefined);
    const state = copyMigration(known);
    if (isFinished(known))
      return known.outcome === outcome ? ok({ outcome: "Replayed", state, migrations: this }) : undefined;
    const migrations = this.withFinished({ ...known, outcome, endEpoch: known.epoch + 1 });
    return ok({ outcome: "Executed", state, migrations });
  }

  #get(id: string): MigrationState | FinishedMigration | undefined {
    const finished = this.#parts.finished.get(id);
    if (finished !== undefined) return finished;
    for (const state of this.#parts.live.values()) if (state.id === id) return state;
    return undefined;
  }
}

/** Why a move is not started. */
export type StartRefusal = MigrationError<"MigrationIdConflict" | "AlreadyCommitted" | "Aborted" | "AlreadyMigrating">;

// There are only a few moves, so a scan is enough.
function longestMatch<T extends MigrationState>(states: Iterable<T>, key: Uint8Array): T | undefined {
  let longest: T | undefined;
  for (const state of states) {
    if (!startsWith(key, state.prefix)) continue;
    if (longest === undefined || state.prefix.length > longest.prefix.length) longest = state;
  }
  return longest && copyMigration(longest);
}
