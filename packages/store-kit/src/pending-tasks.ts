/** The tasks that must end before a store's engine is closed. */
export class PendingTasks {
  readonly #tasks = new Set<Promise<unknown>>();
  #isEnding = false;

  /** Whether `end` was called. Long tasks should stop. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Adds a task and returns the same promise, so that tracking delays nothing. */
  track<T>(task: Promise<T>): Promise<T> {
    const forget = () => void this.#tasks.delete(task);
    this.#tasks.add(task);
    task.then(forget, forget);
    return task;
  }

  /** Adds a task that has no promise. Call the returned function when it ends; more than once is harmless. */
  begin(): () => void {
    let end: () => void = () => undefined;
    void this.track(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    return () => end();
  }

  /** Waits for all tasks, including those that others add meanwhile. Never rejects. */
  async end(): Promise<void> {
    this.#isEnding = true;
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }
}
