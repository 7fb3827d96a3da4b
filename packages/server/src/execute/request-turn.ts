/**
 * Waits until the event loop has passed on every request that has arrived.
 *
 * What waits together goes on together, so that the store commits it together. Otherwise the first request to arrive at an
 * idle store would get a commit of its own, and all others would wait for it.
 */
export class RequestTurn {
  #end: Promise<void> | undefined;

  /** Settles at the end of this turn. */
  end(): Promise<void> {
    return (this.#end ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#end = undefined;
        resolve();
      });
    }));
  }
}
