import { open, type RootDatabase, type Transaction } from "lmdb";

/** Each thread that has the store open needs one, and each open. */
const MAX_READERS = 1024;

const SETTINGS = {
  noSubdir: false,
  maxReaders: MAX_READERS,
  noSync: true,
  overlappingSync: false,
  eventTurnBatching: false,
};

export interface ReaderTableOptions {
  /** Whether threads enter more often than others look. */
  readonly keepsLines: boolean;
}

/** Missing in the types of the driver. */
type EmptyDatabase = RootDatabase & {
  /** One line for each reader: its process, its thread, and the number of its transaction, or `-`. */
  readerList(): string;
  useReadTransaction(): Transaction;
};

/** A reader that is in a transaction. */
const ACTIVE_READER = /^ *\d+ [0-9a-f]+ \d+$/gmu;

const NONE: readonly string[] = [];

/**
 * Who is in: a set of threads that all processes of the machine share.
 *
 * It is the table of readers of a file of the engine that has no rows: a thread that is in reads, and the engine removes
 * the readers of a process that has died. Nothing is ever committed to the file.
 */
export class ReaderTable {
  readonly #db: EmptyDatabase;
  readonly #keepsLines: boolean;
  #reading: Transaction | undefined;

  /** Creates the file. Another process may do the same. Throws what the driver throws. */
  static async create(folder: string): Promise<void> {
    await open({ ...SETTINGS, path: folder }).close();
  }

  /** Opens the file. Throws what the driver throws. */
  constructor(folder: string, { keepsLines }: ReaderTableOptions) {
    this.#keepsLines = keepsLines;
    // With a write transaction, which opening would begin otherwise, a thread that is ended blocks its process.
    this.#db = open({ ...SETTINGS, path: folder, readOnly: true }) as EmptyDatabase;
  }

  /** Puts this thread in. It must not be in. */
  enter(): void {
    this.#reading = this.#db.useReadTransaction();
  }

  /** Takes this thread out, if it is in. */
  leave(): void {
    // The driver ends a transaction that is done after a reset. One that is reset after it is done keeps its line in the
    // table, without a number, for the next time. That takes half the time, and makes every list longer.
    if (!this.#keepsLines) this.#db.resetReadTxn();
    this.#reading?.done();
    this.#reading = undefined;
    this.#db.resetReadTxn();
  }

  /** A line for each thread that is in. */
  list(): readonly string[] {
    if (this.#active() === NONE) return NONE;
    // Removes those of processes that have died.
    this.#db.readerCheck();
    return this.#active();
  }

  close(): Promise<void> {
    this.leave();
    return this.#db.close();
  }

  #active(): readonly string[] {
    return this.#db.readerList().match(ACTIVE_READER) ?? NONE;
  }
}
