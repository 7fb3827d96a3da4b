import type { RunId, TenantId } from "@gossip/contracts";
import type { CoordinationEvent } from "@gossip/coordination";

/** An event with its place in the log. */
export interface LoggedEvent {
  /** The log's epoch and the number of the event in it. */
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

/**
 * The events of this node, the latest of them kept, so that a reader that was cut off can go on where it was.
 *
 * A restart begins a new epoch: an id of an earlier one is unknown, and its reader gets a gap event.
 */
export class EventLog {
  readonly #epoch: string;
  readonly #events: LoggedEvent[] = [];
  readonly #listeners = new Set<(event: LoggedEvent) => void>();
  #next = 1;

  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  get readerCount(): number {
    return this.#listeners.size;
  }

  add(event: CoordinationEvent): void {
    const number = this.#next++;
    const logged = { id: `${this.#epoch}-${number}`, number, event };
    this.#events[number % CAPACITY] = logged;
    for (const listener of this.#listeners) listener(logged);
  }

  /** Call `listener` with what happens from now on. Returns how to stop. */
  listen(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The events after `id`, and whether some may be missing. */
  after(id: string): { readonly events: readonly LoggedEvent[]; readonly hasGap: boolean } {
    const [, epoch, text] = /^(.*)-(\d{1,15})$/.exec(id) ?? [];
    const last = Number(text);
    if (epoch !== this.#epoch || last >= this.#next) return { events: [], hasGap: true };
    const oldest = Math.max(1, this.#next - CAPACITY);
    const events: LoggedEvent[] = [];
    for (let number = Math.max(last + 1, oldest); number < this.#next; number++)
      events.push(this.#events[number % CAPACITY]!);
    return { events, hasGap: last + 1 < oldest };
  }
}

export function matches({ tenant, run }: EventFilter, event: CoordinationEvent): boolean {
  return event.tenant === tenant && (run === undefined || event.run === run);
}
