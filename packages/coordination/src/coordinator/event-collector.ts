import { TenantId } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import type { CoordinationEvent } from "../records/coordination-event.ts";

export interface EventCollectorOptions {
  /** Maximum number of events to hold. Unlimited by default. */
  readonly maxCapacity?: number;
}

/**
 * Collects the events of one tenant for a reader that takes them in batches.
 *
 * Unlike a stream, it is filled by hand and never waits. When it is full, it keeps the oldest events, and drops and
 * counts new ones. An event of another tenant throws, so that one tenant's events cannot reach another.
 */
export class EventCollector implements Iterable<CoordinationEvent> {
  readonly tenant: TenantId;
  readonly #maxCapacity: number;
  #events: CoordinationEvent[] = [];
  #dropped = 0;

  constructor(tenant: TenantId, options: EventCollectorOptions = {}) {
    assert(TenantId.parse(tenant).ok, "tenant must be 64 lowercase hex digits");
    assert(
      typeof options === "object" && options !== null,
      () => `event collector options must be an object, got ${typeof options}`,
    );
    const { maxCapacity = Number.MAX_SAFE_INTEGER } = options;
    assertCount(maxCapacity, "most events to collect", { min: 1, max: Number.MAX_SAFE_INTEGER });
    this.tenant = tenant;
    this.#maxCapacity = maxCapacity;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Number of events that arrived when it was full. *Addition.* */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds an event. Returns `false` if it is full and the event was dropped. */
  emit(event: CoordinationEvent): boolean {
    assert(typeof event === "object" && event !== null, () => `an event must be an object, got ${typeof event}`);
    if (this.#events.length >= this.#maxCapacity) {
      this.#dropped++;
      return false;
    }
    assert(event.tenant === this.tenant, "an event collector takes the events of one tenant alone");
    this.#events.push(event);
    return true;
  }

  /** Removes and returns all events, oldest first. */
  drain(): CoordinationEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /**
   * Removes all events and passes them to `take` one by one. An error of `take` ends this; the remaining events are
   * gone.
   */
  drainWith(take: (event: CoordinationEvent) => void): void {
    assert(typeof take === "function", () => `what takes the events must be a function, got ${typeof take}`);
    for (const event of this.drain()) take(event);
  }

  /** Visits the events, oldest first, without removing them. */
  [Symbol.iterator](): IterableIterator<CoordinationEvent> {
    return this.#events.values();
  }
}
