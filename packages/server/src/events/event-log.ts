import type { RunId, TenantId } from "@gossip/contracts";
import type { CoordinationEvent } from "@gossip/coordination";
import { OpaqueNumbers } from "./opaque-number.ts";

/** An event with its place in the log. */
export interface LoggedEvent {
  /** The number of the event, as readers get it. It shows nothing. */
  readonly id: string;
  readonly number: number;
  readonly event: CoordinationEvent;
}

export interface EventFilter {
  readonly tenant: TenantId;
  readonly run: RunId | undefined;
}

/** How many events a reader can go back to. */
const CAPACITY = 10_000;
/** How long events are kept for readers that were cut off. Without readers, keeping them would slow every checkpoint. */
const KEEP_MS = 300_000;

/**
 * The events of this node. The latest are kept while there are readers and for some minutes after, so that a reader that
 * was cut off can go on where it was.
 *
 * A log needs a random key of its own: an id of another one is unknown, and its reader gets a gap event.
 */
export class EventLog {
  readonly #ids: OpaqueNumbers;
  readonly #nowMs: () => number;
  #events: CoordinationEvent[] = [];
  readonly #listeners = new Set<(event: LoggedEvent) => void>();
  #next = 1;
  /** Events before this one are gone. */
  #oldest = 1;
  #keepUntilMs = -Infinity;

  constructor(key: Uint8Array, nowMs: () => number) {
    this.#ids = new OpaqueNumbers(key);
    this.#nowMs = nowMs;
  }

  get readerCount(): number {
    return this.#listeners.size;
  }

  add(event: CoordinationEvent): void {
    const number = this.#next++;
    if (this.#listeners.size === 0 && !this.#isKept()) return this.#forget();
    this.#events[number % CAPACITY] = event;
    if (this.#listeners.size === 0) return;
    const logged = this.#logged(number, event);
    for (const listener of this.#listeners) listener(logged);
  }

  /** Call `listener` with what happens from now on. Returns how to stop. */
  listen(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#keepUntilMs = this.#nowMs() + KEEP_MS;
    };
  }

  /** The events after `id`, and whether some may be missing. */
  after(id: string): { readonly events: readonly LoggedEvent[]; readonly hasGap: boolean } {
    const last = this.#ids.tryRead(id);
    if (last === undefined || last >= this.#next) return { events: [], hasGap: true };
    const oldest = Math.max(this.#oldest, this.#next - CAPACITY);
    const events: LoggedEvent[] = [];
    for (let number = Math.max(last + 1, oldest); number < this.#next; number++)
      events.push(this.#logged(number, this.#events[number % CAPACITY]!));
    return { events, hasGap: last + 1 < oldest };
  }

  /** Whether events are kept without a reader. Most nodes never had one, and need not look at the clock. */
  #isKept(): boolean {
    return this.#keepUntilMs > -Infinity && this.#nowMs() < this.#keepUntilMs;
  }

  #forget(): void {
    this.#oldest = this.#next;
    if (this.#events.length > 0) this.#events = [];
  }

  #logged(number: number, event: CoordinationEvent): LoggedEvent {
    const ids = this.#ids;
    return {
      number,
      event,
      // Most readers are of other tenants, and need none.
      get id(): string {
        return ids.write(number);
      },
    };
  }
}

export function matches({ tenant, run }: EventFilter, event: CoordinationEvent): boolean {
  return event.tenant === tenant && (run === undefined || event.run === run);
}
