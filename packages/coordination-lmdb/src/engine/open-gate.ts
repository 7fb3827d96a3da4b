import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ABORT, open, type RootDatabase, type Transaction } from "lmdb";

/** The folder of the gate, in that of the store. It holds no rows. */
export const GATE_FOLDER = "gate";

/** The mark: a file of the gate that exists while a process opens the store. */
const MARK = "opening";

/** Each thread that has the store open is one, and each process that opens it. */
const MAX_GATE_READERS = 1024;

/** How often a process that waits looks again. */
const LOOK_AGAIN_MS = 1;

/** How often a process that keeps its pass looks for the mark. Each look is a call to the system. */
const LOOK_WITH_PASS_MS = 2;

export interface GateLimits {
  /**
   * How long an open waits for passes to be given up. A commit hardly takes so long: most likely it has ended,
   * and its thread is too busy to notice.
   */
  readonly patienceMs: number;
  /** A mark that stays so long may be that of a process that was killed. */
  readonly staleMs: number;
}

const LIMITS: GateLimits = { patienceMs: 2000, staleMs: 5000 };

/** How long a pass is kept after the last commit, for the next one. */
const KEPT_MS = 5;

/** Lets commits through. */
export interface Gate {
  /** Runs `commit` while no process opens the store. */
  pass<T>(commit: () => Promise<T>): Promise<T>;
}

/** For a store that no other process opens. */
export const NO_GATE: Gate = { pass: (commit) => commit() };

/** Missing in the types of the driver. */
type GateDatabase = RootDatabase & {
  /** One line for each reader: its process, its thread, and the number of its transaction, or `-`. */
  readerList(): string;
  useReadTransaction(): Transaction;
};

/** A reader whose transaction has a number. */
const ACTIVE_READER = /^ *\d+ [0-9a-f]+ \d+$/mu;

/**
 * Keeps the processes of a store from committing while one of them opens it.
 *
 * The engine reads the number of the last commit when it opens a file, and stores it a moment later where all processes
 * look it up. It forgets a commit in between: the next commit overwrites it, although it was acknowledged. See decision 0074.
 *
 * The gate is a second, empty tree of the engine, because the engine releases what a process held that dies:
 *
 * - A process that commits is a reader of the gate from before its commit until after it. This is its pass.
 * - A process that opens the store is the writer of the gate, of which there is one at a time. It first makes the mark,
 *   and then waits until no process has a pass. No process begins a commit while there is a mark.
 *
 * A process looks for the mark after it has taken its pass, and an open looks for passes after it has made the mark, so
 * one of them sees the other. While it keeps its pass, the open waits, so it looks again only to let the open happen.
 * Nothing is ever committed to the gate, so the gate itself can be opened at any time.
 *
 * A thread has one gate for each store, however often it has the store open: a second one would wait for the first, and
 * block the thread that the first one needs.
 */
export class OpenGate implements Gate {
  readonly #db: GateDatabase;
  readonly #mark: string;
  readonly #limits: GateLimits;
  #pass: Transaction | undefined;
  /** When to look for the mark again. */
  #looksAtMs = 0;
  /** Commits that have begun and not ended. */
  #running = 0;
  #keeping: ReturnType<typeof setTimeout> | undefined;
  /** Settles when there is no mark any more. */
  #opened: Promise<void> | undefined;
  /** Whether this thread opens the store. */
  #isOpening = false;

  /**
   * Opens the gate of a store, whose folder must exist. Blocks this thread while another process opens the store.
   * Throws what the driver throws.
   */
  constructor(storeFolder: string, limits: GateLimits = LIMITS) {
    const folder = join(storeFolder, GATE_FOLDER);
    this.#limits = limits;
    this.#mark = join(folder, MARK);
    this.#db = open({
      path: folder,
      noSubdir: false,
      maxReaders: MAX_GATE_READERS,
      noSync: true,
      overlappingSync: false,
      eventTurnBatching: false,
    }) as GateDatabase;
  }

  /** Calls `openStore` while no process commits. Do not call it again before it has ended. */
  async openAlone<T>(openStore: () => T): Promise<T> {
    let opened: { readonly value: T } | undefined;
    this.#isOpening = true;
    try {
      await this.#db.transactionSync(async () => {
        closeSync(openSync(this.#mark, "w"));
        try {
          await this.#untilNoPass();
          opened = { value: openStore() };
        } finally {
          rmSync(this.#mark, { force: true });
        }
        return ABORT;
      });
    } finally {
      this.#isOpening = false;
    }
    return opened!.value;
  }

  pass<T>(commit: () => Promise<T>): Promise<T> {
    if (this.#opened !== undefined) return this.#passLater(commit);
    this.#takePass();
    if (this.#isMarked()) return this.#passLater(commit);
    this.#running++;
    return this.#run(commit);
  }

  close(): Promise<void> {
    clearTimeout(this.#keeping);
    this.#giveUpPass();
    return this.#db.close();
  }

  /** Whether there is a mark, as far as a process with a pass has to know. */
  #isMarked(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#looksAtMs) return false;
    if (existsSync(this.#mark)) return true;
    this.#looksAtMs = nowMs + LOOK_WITH_PASS_MS;
    return false;
  }

  async #run<T>(commit: () => Promise<T>): Promise<T> {
    try {
      return await commit();
    } finally {
      this.#running--;
      if (this.#running === 0) this.#keepPass();
    }
  }

  async #passLater<T>(commit: () => Promise<T>): Promise<T> {
    this.#opened ??= this.#untilOpened().finally(() => (this.#opened = undefined));
    await this.#opened;
    return this.pass(commit);
  }

  async #untilOpened(): Promise<void> {
    const begunMs = performance.now();
    while (existsSync(this.#mark)) {
      if (this.#running === 0) this.#giveUpPass();
      if (performance.now() - begunMs > this.#limits.staleMs && !this.#isOpening) return this.#removeStaleMark();
      await pause();
    }
  }

  /** Only the writer of the gate may remove a mark. Blocks this thread if there is one after all. */
  #removeStaleMark(): void {
    this.#db.transactionSync(() => {
      rmSync(this.#mark, { force: true });
      // Otherwise, if many processes open the store one after the other, no commit would ever be between them.
      this.#takePass();
      this.#looksAtMs = performance.now() + LOOK_WITH_PASS_MS;
      return ABORT;
    });
  }

  async #untilNoPass(): Promise<void> {
    const begunMs = performance.now();
    for (;;) {
      // Removes the passes of processes that have died.
      this.#db.readerCheck();
      if (!ACTIVE_READER.test(this.#db.readerList()) || performance.now() - begunMs > this.#limits.patienceMs) return;
      await pause();
    }
  }

  #takePass(): void {
    if (this.#pass !== undefined) return;
    this.#pass = this.#db.useReadTransaction();
    this.#looksAtMs = 0;
  }

  /** Keeps the pass for a moment: a busy process commits again at once, and to take a pass costs as much as to use it. */
  #keepPass(): void {
    if (this.#opened !== undefined) this.#giveUpPass();
    else if (this.#keeping === undefined) this.#keeping = setTimeout(() => this.#endKeeping(), KEPT_MS).unref();
    else this.#keeping.refresh();
  }

  #endKeeping(): void {
    if (this.#running === 0) this.#giveUpPass();
  }

  #giveUpPass(): void {
    this.#pass?.done();
    this.#pass = undefined;
    // Without this, the driver goes on reading until the turn of the event loop ends.
    this.#db.resetReadTxn();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
}
