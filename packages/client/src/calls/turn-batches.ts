/** Requests of one kind that are under way at the same time. Beyond that, items wait and travel together. */
const MAX_IN_FLIGHT = 4;
const MAX_BATCH = 500;

/** Collects the items of one turn of the event loop and sends them together. */
export class TurnBatches<Item> {
  readonly #send: (items: readonly Item[]) => Promise<void>;
  #waiting: Item[] = [];
  #isScheduled = false;
  #inFlight = 0;

  /** `send` must not reject. */
  constructor(send: (items: readonly Item[]) => Promise<void>) {
    this.#send = send;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= MAX_IN_FLIGHT || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const items = this.#take();
      this.#inFlight++;
      void this.#send(items).finally(() => {
        this.#inFlight--;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  #take(): readonly Item[] {
    if (this.#waiting.length > MAX_BATCH) return this.#waiting.splice(0, MAX_BATCH);
    const items = this.#waiting;
    this.#waiting = [];
    return items;
  }
}
