import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Patience } from "./patience.ts";
import { ReaderTable } from "./reader-table.ts";

/** Where the gate is, in the folder of a store. It holds no rows. */
export const GATE_FOLDER = "gate";

/** The folders of the gate. */
export const GATE_TABLES = { commits: "commits", opens: "opens" } as const;

export interface GateLimits {
  /** How long an open waits for a commit. A longer one has most likely ended, and its thread is too busy to notice. */
  readonly commitMs: number;
  /** How long a commit waits for an open. A longer one is that of a process that has been stopped. */
  readonly openMs: number;
}

const LIMITS: GateLimits = { commitMs: 2000, openMs: 5000 };

export interface GateTime {
  /** Milliseconds from some moment on. They must not go back. */
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const TIME: GateTime = { nowMs: () => performance.now(), pause: (ms) => setTimeout(ms) };

const LOOK_AGAIN_MS = 1;

/** A commit that waits looks more often than this, if its thread is not busy. */
const GAP_MS = 100;

/** An open that has taken so much of the time for which commits wait starts over. */
const LATE = 0.8;

/** Lets commits through. */
export interface Gate {
  /** Runs `commit` while no process opens the store. Do not call it within `commit`. */
  pass<T>(commit: () => Promise<T>): Promise<T>;
  /** Whether a commit runs. */
  readonly isPassed: boolean;
}

/**
 * Keeps the processes of a store from committing while one of them opens it.
 *
 * The engine reads the number of the last commit when it opens a file, and stores it a moment later where all processes
 * look it up. A commit in between is acknowledged, forgotten, and overwritten by the next one. See decision 0074.
 *
 * There are two tables of threads. One that commits is in the first, from before its commit until after it. One that
 * opens the store is in the second. Each enters its own table and then looks at the other, so one of them sees the other
 * and waits. If both do, the commit leaves its table again, and the open goes ahead.
 *
 * Two processes may open the store at the same time. Opening commits only the settings of a new file, which are the same
 * for all.
 *
 * Nothing here blocks its thread: the process that it waits for may wait for this one to end a transaction.
 */
export class OpenGate implements Gate {
  readonly #commits: ReaderTable;
  readonly #opens: ReaderTable;
  readonly #limits: GateLimits;
  readonly #time: GateTime;
  readonly #patience: Patience;
  #running = 0;

  /** Opens the tables in the folder of a store. Throws what the driver throws. */
  constructor(storeFolder: string, limits: GateLimits = LIMITS, time: GateTime = TIME) {
    const folder = join(storeFolder, GATE_FOLDER);
    this.#commits = new ReaderTable(join(folder, GATE_TABLES.commits), { keepsLines: true });
    this.#opens = new ReaderTable(join(folder, GATE_TABLES.opens), { keepsLines: false });
    this.#limits = limits;
    this.#time = time;
    this.#patience = new Patience({ limitMs: limits.openMs, gapMs: GAP_MS });
  }

  get isPassed(): boolean {
    return this.#running > 0;
  }

  async pass<T>(commit: () => Promise<T>): Promise<T> {
    while (!this.#tryEnter()) {
      do await this.#time.pause(LOOK_AGAIN_MS);
      while (this.#isOpening());
    }
    try {
      return await commit();
    } finally {
      this.#leave();
    }
  }

  /** Calls `openStore` while no process commits. A thread must not call it again before it has ended. */
  async openAlone<T>(openStore: () => T): Promise<T> {
    for (;;) {
      this.#opens.enter();
      try {
        if (await this.#becomesQuiet()) return openStore();
      } finally {
        this.#opens.leave();
      }
      // So that commits which no longer wait for this open notice that it has ended.
      await this.#time.pause(2 * GAP_MS);
    }
  }

  async close(): Promise<void> {
    await this.#commits.close();
    await this.#opens.close();
  }

  #tryEnter(): boolean {
    if (this.#running === 0) this.#commits.enter();
    this.#running++;
    if (!this.#isOpening()) return true;
    this.#leave();
    return false;
  }

  #leave(): void {
    this.#running--;
    if (this.#running === 0) this.#commits.leave();
  }

  #isOpening(): boolean {
    // Also if there is none, so that the next one is not taken for one that has been there for long.
    return this.#patience.isWorthWaiting(this.#opens.list(), this.#time.nowMs());
  }

  /** Waits until no process commits. Returns `false` if that took so long that commits may wait no longer. */
  async #becomesQuiet(): Promise<boolean> {
    const { commitMs, openMs } = this.#limits;
    const { nowMs, pause } = this.#time;
    const begunMs = nowMs();
    const patience = new Patience({ limitMs: commitMs, gapMs: Infinity });
    while (patience.isWorthWaiting(this.#commits.list(), nowMs())) await pause(LOOK_AGAIN_MS);
    return nowMs() - begunMs < LATE * openMs;
  }
}
