import { assert } from "@gossip/stdx";
import { getLastVersion, IF_EXISTS } from "lmdb";
import { endOf } from "../layout/keyspace.ts";
import { assertFrom, inOrder } from "./key-order.ts";
import type { LmdbDatabase } from "./open-database.ts";
import type { Gate } from "./gate/open-gate.ts";
import { OwnWrites } from "./own-writes.ts";
import { nextVersion } from "../layout/row-version.ts";
import { SettledWrites, type PutDownWrite } from "./settled-writes.ts";

/** Keys from `start` up to `end`, which is excluded. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** The part of a range to return. */
export interface RangeWindow {
  /** How many keys to skip. */
  readonly offset?: number;
  readonly limit?: number;
}

export interface RowEntry {
  readonly key: Buffer;
  readonly value: Uint8Array;
  /** Present if it was requested. */
  readonly version?: number;
}

/** A read transaction that sees the store as it was when it began. */
export type Snapshot = ReturnType<LmdbDatabase["useReadTransaction"]>;

const NO_BYTES = Buffer.alloc(0);

const itself = (key: Buffer): Buffer => key;
const keyOfEntry = ({ key }: { readonly key: Buffer }): Buffer => key;

/** What the driver reports when a commit has ended. */
interface CommitEvent {
  /** Its number; `undefined` if it failed. */
  readonly txnId?: number;
  /** The first write that was in it. */
  readonly next?: PutDownWrite;
}

/**
 * The rows of a store: ordered keys, each with a value and a version.
 *
 * This is the only file that knows how the driver reads and writes rows:
 *
 * - The driver reads from one snapshot during a whole turn of the event loop. Call `refresh` before a read that must
 *   see what another process has committed since.
 * - Writes outside `transact` are queued and committed together by a thread of the driver, which checks their
 *   conditions. This process waits neither for the lock that all processes share nor for the flush, and the lock is not
 *   held while this process does something else.
 * - The keys that it returns ascend from the start of their range. `keys`, `first`, `entries` and `entriesAt` throw if
 *   they do not, because the file is damaged then: a loop over them always ends.
 */
export class Rows {
  readonly writes = new OwnWrites();
  readonly #db: LmdbDatabase;
  readonly #gate: Gate;

  constructor(db: LmdbDatabase, gate: Gate) {
    this.#db = db;
    this.#gate = gate;
    const settled = new SettledWrites();
    db.on("aftercommit", ({ txnId, next }: CommitEvent) => {
      this.writes.noteCommit(txnId);
      settled.cutBefore(next);
    });
  }

  /** Lets later reads see everything that has been committed until now. */
  refresh(): void {
    this.#db.resetReadTxn();
  }

  /** A value, valid until the next call. */
  get(key: Buffer): Uint8Array | undefined {
    return plain(this.#db.getBinaryFast(key));
  }

  /** The version of the row that `get` or `has` last found. */
  get lastVersion(): number {
    return getLastVersion();
  }

  has(key: Buffer): boolean {
    return this.#db.getBinaryFast(key) !== undefined;
  }

  keys(range: KeyRange, window: RangeWindow = {}): Iterable<Buffer> {
    return inOrder(range.start, this.#db.getKeys({ ...range, ...window }), itself);
  }

  /** The first key of a range. */
  first(range: KeyRange): Buffer | undefined {
    for (const key of this.#db.getKeys({ ...range, limit: 1 })) {
      assertFrom(range.start, key);
      return key;
    }
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
    return inOrder(range.start, this.#db.getRange({ ...range }), keyOfEntry);
  }

  /** Begins a read transaction, until its `done` is called. Freed pages are not reused meanwhile. */
  holdSnapshot(): Snapshot {
    this.refresh();
    return this.#db.useReadTransaction();
  }

  /** Rows of a range, as a read transaction sees them. */
  entriesAt(transaction: Snapshot, range: KeyRange): Iterable<RowEntry> {
    return inOrder(range.start, this.#db.getRange({ ...range, transaction, versions: true }), keyOfEntry);
  }

  /** The value of a key, as a read transaction sees it. */
  getAt(transaction: Snapshot, key: Buffer): Uint8Array | undefined {
    return this.#db.get(key, { transaction });
  }

  /** Runs `commit` while no process opens the store. Every write is in such a call, and none of them in another. */
  pass<T>(commit: () => Promise<T>): Promise<T> {
    return this.#gate.pass(commit);
  }

  /** `transact` in a call of `pass`. */
  commit<T>(write: () => T): Promise<T> {
    return this.pass(() => this.transact(write));
  }

  /** Runs `write` in a write transaction, when the driver gets to it. Reads in it see its writes. */
  transact<T>(write: () => T): Promise<T> {
    this.#begin();
    return this.#db.transaction(write);
  }

  /** Queues writes for one transaction. */
  together(write: () => void): Promise<boolean> {
    this.#begin();
    return this.#db.batch(write);
  }

  /** Queues writes that are made if the row still has this version, or, without a version, if it still exists. */
  ifVersion(key: Buffer, version: number | undefined, write: () => void): Promise<boolean> {
    return this.#db.ifVersion(key, version ?? IF_EXISTS, write);
  }

  /** Queues writes that are made if there is still no such row. */
  ifMissing(key: Buffer, write: () => void): Promise<boolean> {
    return this.#db.ifNoExists(key, write);
  }

  /** Queues a write that is made if the row still has this version, and gives it the next one. */
  putNext(key: Buffer, value: Uint8Array, version: number): Promise<boolean> {
    return this.#db.put(key, value, nextVersion(version), version);
  }

  put(key: Buffer, value: Uint8Array = NO_BYTES, version = 0): void {
    // Its outcome is that of the transaction or condition that contains it.
    void this.#db.put(key, value, version);
  }

  remove(key: Buffer): void {
    void this.#db.remove(key);
  }

  #begin(): void {
    assert(this.#gate.isPassed, "a write must be in a call of pass");
    this.writes.begin();
  }

  /**
   * Whether no other process has the store open. A process that has it open has read from it, and is in the engine's
   * table of readers until it closes it or dies.
   */
  isOnlyProcess(): boolean {
    this.#db.readerCheck();
    const readers = (this.#db as unknown as ListsReaders).readerList();
    const pids = [...readers.matchAll(/^\s*(\d+) /gmu)].map(([, pid]) => Number(pid));
    return pids.every((pid) => pid === process.pid);
  }

  /** Size of the pages that hold rows, in bytes. */
  get usedSize(): number {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = this.#db.getStats() as TreeStats;
    return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
  }
}

/** Missing in the types of the driver: one line per reader, which begins with the id of its process. */
interface ListsReaders {
  readerList(): string;
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

/** Returns a plain view. The buffer of the driver is larger than its value, and only its `length` says so. */
function plain(bytes: Buffer | undefined): Uint8Array | undefined {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
