import { assert, assertCount } from "@gossip/stdx";
import type { CoordinationEvent } from "../records/coordination-event.ts";

export type EventListener = (event: CoordinationEvent) => unknown;

export interface EventStreamOptions {
  /** How many events may wait for a slow reader; 1,024 where it is left out. One more drops the oldest. */
  readonly capacity?: number;
}

const DEFAULT_CAPACITY = 1024;

/**
 * Tells others what happened, after it was stored.
 *
 * Nobody who listens can hold the coordinator up. A listener is called in passing and
 * what it throws is counted and dropped; a stream that is not read fast enough drops
 * its oldest events and counts them.
 */
export class EventHub {
  readonly #listeners = new Set<EventListener>();
  /** Events that came while others were being told. */
  readonly #waiting: CoordinationEvent[] = [];
  #isEmitting = false;
  #failedCalls = 0;

  /** How many calls of listeners have thrown. */
  get failedCalls(): number {
    return this.#failedCalls;
  }

  /** Whether anybody listens. Events that nobody hears need not be made. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Call `listener` with every event from now on. The answer ends that. */
  listen(listener: EventListener): () => void {
    // A function of our own, so that one listener can be added twice and each be ended alone.
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

  /** Tell everybody, each event to all before the next. What a listener causes in passing is told when this has been. */
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
        // An async function fits the type too; what it rejects with is nobody's but ours to catch.
        const answer: unknown = listener(event);
        if (answer instanceof Promise) answer.catch(() => this.#failedCalls++);
      } catch {
        this.#failedCalls++;
      }
    }
  }
}

/** Events to be read one after the other, with `for await`. It listens from its making until it is closed. */
export class EventStream implements AsyncIterableIterator<CoordinationEvent, undefined> {
  readonly #capacity: number;
  readonly #stopListening: () => void;
  /** A ring: taking the first element out of a long array costs as much as the array is long. */
  readonly #events: (CoordinationEvent | undefined)[] = [];
  #first = 0;
  #waiting = 0;
  /** Those who asked for an event before there was one. */
  readonly #readers: ((result: IteratorResult<CoordinationEvent, undefined>) => void)[] = [];
  #dropped = 0;
  #isClosed = false;

  constructor(capacity: number, listen: (listener: EventListener) => () => void) {
    this.#capacity = capacity;
    this.#stopListening = listen((event) => this.#add(event));
  }

  /** How many events were dropped because nobody read them in time. */
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

  /** Stop listening. What was not read is gone. */
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

  /** The oldest event that waits, if one does. */
  #take(): CoordinationEvent | undefined {
    if (this.#waiting === 0) return undefined;
    const event = this.#events[this.#first];
    this.#events[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#capacity;
    this.#waiting--;
    return event;
  }
}
