/**
 * Runs a store's cleanup in the background, such as deleting the shards of removed runs.
 *
 * The work itself is recorded in the store, so it survives a crash: call `start` when the store is opened and after each
 * write that leaves something behind.
 */
export class Sweeper {
  readonly #sweep: (isStopped: () => boolean) => Promise<void>;
  #isStopped = false;
  #isWanted = false;
  #running: Promise<void> | undefined;

  /**
   * `sweep` deletes everything that is recorded, in small transactions, and returns early if `isStopped` returns true.
   * If it rejects, the rest waits for the next `start`.
   */
  constructor(sweep: (isStopped: () => boolean) => Promise<void>) {
    this.#sweep = sweep;
  }

  /** Sweeps until nothing is left. If a sweep is running, another one follows it. */
  start(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** Settles when no sweep is running. Never rejects. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Waits for the current transaction and starts no other. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false;
        await this.#sweep(() => this.#isStopped);
      }
    } catch {
      // The engine is unreachable, full or closed. The work is still recorded in the store.
    } finally {
      // In the same turn as the last look at `#isWanted`: a `start` in between would be lost.
      this.#running = undefined;
    }
  }
}
