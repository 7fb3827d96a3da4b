import { assert, assertCount } from "@gossip/stdx";
import type { CoordinationEvent } from "../records/coordination-event.ts";

export type EventListener = (event: CoordinationEvent) => unknown;

export interface EventStreamOptions {
  /** Maximum number of events that wait for a slow reader: 1,024 by default. One more drops the oldest. */
  readonly capacity?: number;
}

const DEFAULT_CAPACITY = 1024;

/**
 * Delivers events after their writes are stored.
 *
 * No listener can delay the coordinator. A listener is called synchronously, and what it throws is counted and dropped.
 * A stream that is not read fast enough drops its oldest events and counts them.
 */
export class EventHub {
  readonly #listeners = new Set<EventListener>();
  /** Events that arrived while others were being delivered. */
  readonly #waiting: CoordinationEvent[] = [];
  #isEmitting = false;
  #failedCalls = 0;

  /** Number of listener calls that threw. */
  get failedCalls(): number {
    return this.#failedCalls;
  }

  /** Whether there are listeners. Without any, events need not be created. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Calls `listener` with every event from now on. Returns a function that stops it. */
  listen(listener: EventListener): () => void {
    // A new function each time, so that one listener can be added twice and each addition stopped alone.
    const call: EventListener = (event): unknown => listener(event);
    this.#listeners.add(call);
    return () => {
      this.#listeners.delete(call);
    };
  }

  stream(options: EventStreamOptions = {}): EventStream {
    assert(
      typeof options === "object" && options !== null,
      () => `event stream options must be an object, got ${typeof options}`,
    );
    const { capacity = DEFAULT_CAPACITY } = options;
    assertCount(capacity, "event stream capacity", { min: 1, max: 1_000_000 });
    return new EventStream(capacity, (listener) => this.listen(listener));
  }

  /** Delivers each event to all listeners before the next event. Events that a listener causes come after these. */
  emit(events: readonly CoordinationEvent[]): void {
    if (this.#listeners.size === 0 || events.length === 0) return;
    if (this.#isEmitting) {
      this.#waiting.push(...events);
      return;
    }
    this.#isEmitting = true;
    for (const event of events) this.#tell(event);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#tell(next);
    this.#isEmitting = false;
  }

  #tell(event: CoordinationEvent): void {
    for (const listener of this.#listeners) {
      try {
        // An async function fits the type too, and only we can catch its rejection.
        const answer: unknown = listener(event);
        if (answer instanceof Promise) answer.catch(() => this.#failedCalls++);
      } catch {
        this.#failedCalls++;
      }
    }
  }
}

/** Events for `for await`. Listens from its creation until it is closed. */
export class EventStream implements AsyncIterableIterator<CoordinationEvent> {
  readonly #capacity: number;
  readonly #stopListening: () => void;
  /** A ring buffer: removing the first element of a long array takes time in proportion to its length. */
  readonly #events: (CoordinationEvent | undefined)[] = [];
  #first = 0;
  #waiting = 0;
  /** Readers that wait for an event. */
  readonly #readers: ((result: IteratorResult<CoordinationEvent, undefined>) => void)[] = [];
  #dropped = 0;
  #isClosed = false;

  constructor(capacity: number, listen: (listener: EventListener) => () => void) {
    this.#capacity = capacity;
    this.#stopListening = listen((event) => this.#add(event));
  }

  /** Number of events that were dropped because they were not read in time. */
  get dropped(): number {
    return this.#dropped;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<CoordinationEvent, undefined>> {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Stops listening. Unread events are gone. */
  return(): Promise<IteratorResult<CoordinationEvent, undefined>> {
    this.#isClosed = true;
    this.#events.length = 0;
    this.#waiting = 0;
    this.#stopListening();
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  #add(event: CoordinationEvent): void {
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: event });
      return;
    }
    if (this.#waiting === this.#capacity) {
      this.#take();
      this.#dropped++;
    }
    this.#events[(this.#first + this.#waiting) % this.#capacity] = event;
    this.#waiting++;
  }

  /** Returns the oldest unread event, if there is one. */
  #take(): CoordinationEvent | undefined {
    if (this.#waiting === 0) return undefined;
    const event = this.#events[this.#first];
    this.#events[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#capacity;
    this.#waiting--;
    return event;
  }
}
