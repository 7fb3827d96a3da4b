/**
 * What is being done with a store, so that it is not closed under it.
 *
 * The engine's memory is gone when it is closed. Whatever still reads it then ends the process.
 */
export class UnderWay {
  readonly #tasks = new Set<Promise<unknown>>();
  #isEnding = false;

  /** Whether the store is being closed. What is under way should come to an end. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Wait for a task before closing. It is given back as it is: whoever waits for it need not wait for what is done about it here. */
  track<T>(task: Promise<T>): Promise<T> {
    const forget = () => void this.#tasks.delete(task);
    this.#tasks.add(task);
    task.then(forget, forget);
    return task;
  }

  /** Something has begun that has no promise of its own. Call the answer when it is over; once or more makes no difference. */
  begin(): () => void {
    let end: () => void = () => undefined;
    void this.track(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    return () => end();
  }

  /** Let nothing more begin, and wait for the rest. */
  async end(): Promise<void> {
    this.#isEnding = true;
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks);
  }
}
