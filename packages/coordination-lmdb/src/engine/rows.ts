import { getLastVersion, IF_EXISTS } from "lmdb";
import { endOf } from "../layout/keyspace.ts";
import type { LmdbDatabase } from "./open-database.ts";
import { OwnWrites } from "./own-writes.ts";
import { nextVersion } from "../layout/row-version.ts";
import { SettledWrites, type PutDownWrite } from "./settled-writes.ts";

/** From a key on, up to a key that is not in it. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** What of a range to give. */
export interface RangeWindow {
  /** How many to leave out at its start. */
  readonly offset?: number;
  readonly limit?: number;
}

export interface RowEntry {
  readonly key: Buffer;
  readonly value: Uint8Array;
  /** Only where it was asked for. */
  readonly version?: number;
}

/** A moment of the store that reads can be made at, though it has gone on since. */
export type Snapshot = ReturnType<LmdbDatabase["useReadTransaction"]>;

const NO_BYTES = Buffer.alloc(0);

/** What the driver tells of a commit that is over. */
interface CommitEvent {
  /** Its number; `undefined` where it failed. */
  readonly txnId?: number;
  /** The first write that was in it. */
  readonly next?: PutDownWrite;
}

/**
 * The rows of a store: keys in order, each with a value and a version.
 *
 * The only file that knows the driver's way of reading and writing. Two things it sees to:
 *
 * - The driver reads at one moment for a whole turn of the event loop. Another process may have written
 *   since and told us so, hence `refresh` before whatever must be current.
 * - Writes outside `transact` are only put down; they are made, together, in a thread of the driver, which
 *   checks their conditions there. Neither the wait for the lock that all processes share nor the flush stops
 *   this one, and the lock is not held while this one is busy with something else.
 */
export class Rows {
  readonly writes = new OwnWrites();
  readonly #db: LmdbDatabase;

  constructor(db: LmdbDatabase) {
    this.#db = db;
    const settled = new SettledWrites();
    db.on("aftercommit", ({ txnId, next }: CommitEvent) => {
      this.writes.noteCommit(txnId);
      settled.cutBefore(next);
    });
  }

  /** Let the reads from here on see everything that has been written until now. */
  refresh(): void {
    this.#db.resetReadTxn();
  }

  /** A value, borrowed: good until the next call. */
  get(key: Buffer): Uint8Array | undefined {
    return plain(this.#db.getBinaryFast(key));
  }

  /** The version of what `get` or `has` found last. */
  get lastVersion(): number {
    return getLastVersion();
  }

  has(key: Buffer): boolean {
    return this.#db.getBinaryFast(key) !== undefined;
  }

  keys(range: KeyRange, window: RangeWindow = {}): Iterable<Buffer> {
    return this.#db.getKeys({ ...range, ...window });
  }

  /** The first key of a range. */
  first(range: KeyRange): Buffer | undefined {
    for (const key of this.keys(range, { limit: 1 })) return key;
    return undefined;
  }

  count(range: KeyRange): number {
    return this.#db.getKeysCount({ ...range });
  }

  /** `count` that stops at `limit`. */
  countUpTo(limit: number, range: KeyRange): number {
    for (const _key of this.keys(range, { offset: limit - 1, limit: 1 })) return limit;
    return this.count(range);
  }

  /** Keys and values of a range. */
  entries(range: KeyRange): Iterable<RowEntry> {
    return this.#db.getRange({ ...range });
  }

  /** Hold on to this moment until it is given back with `done`. Pages that are freed meanwhile are not used again. */
  holdSnapshot(): Snapshot {
    this.refresh();
    return this.#db.useReadTransaction();
  }

  /** Rows of a range, as they were at a held moment. */
  entriesAt(transaction: Snapshot, range: KeyRange): Iterable<RowEntry> {
    return this.#db.getRange({ ...range, transaction, versions: true });
  }

  /** The value of a key, looked up in a held moment. */
  getAt(transaction: Snapshot, key: Buffer): Uint8Array | undefined {
    return this.#db.get(key, { transaction });
  }

  /** Run `write` within one write transaction, at a time that the driver chooses. Reads in it see what it wrote. */
  transact<T>(write: () => T): Promise<T> {
    this.writes.begin();
    return this.#db.transaction(write);
  }

  /** Put writes down that are made in one transaction. */
  together(write: () => void): Promise<boolean> {
    this.writes.begin();
    return this.#db.batch(write);
  }

  /** Put writes down that are made if the row still has this version; `undefined`: if it is still there. */
  ifVersion(key: Buffer, version: number | undefined, write: () => void): Promise<boolean> {
    return this.#db.ifVersion(key, version ?? IF_EXISTS, write);
  }

  /** Put a write down that is made if the row still has this version, and gives it the next. */
  putNext(key: Buffer, value: Uint8Array, version: number): Promise<boolean> {
    return this.#db.put(key, value, nextVersion(version), version);
  }

  put(key: Buffer, value: Uint8Array = NO_BYTES, version = 0): void {
    // Its promise is that of the transaction, or of the group of writes that this is one of.
    void this.#db.put(key, value, version);
  }

  remove(key: Buffer): void {
    void this.#db.remove(key);
  }

  /** Bytes of the pages that hold rows. */
  get usedSize(): number {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = this.#db.getStats() as TreeStats;
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  }
}

interface TreeStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** All keys that begin with `prefix`. */
export function rangeOf(prefix: Buffer): KeyRange {
  return { start: prefix, end: endOf(prefix) };
}

/** The driver's buffer is larger than what it holds and only says otherwise; everybody else goes by what it is. */
function plain(bytes: Buffer | undefined): Uint8Array | undefined {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
