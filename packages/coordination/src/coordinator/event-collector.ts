import { TenantId } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import type { CoordinationEvent } from "../records/coordination-event.ts";

export interface EventCollectorOptions {
  /** Most events to hold at a time. Without it there is no limit. */
  readonly maxCapacity?: number;
}

/**
 * Gathers the events of one tenant, for whoever takes them away in batches.
 *
 * Unlike a stream it is filled by hand, never waits, and keeps the oldest where it is full: what
 * comes then is dropped and counted. Another tenant's event is a mistake of the caller's and throws,
 * so that what was gathered for one cannot be shown to another.
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

  /** How many events came when it was full. *Addition.* */
  get dropped(): number {
    return this.#dropped;
  }

  /** Take an event in; `false` where it is full, and the event is dropped. */
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

  /** Take everything out, oldest first. */
  drain(): CoordinationEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Take everything out, one after the other. What `take` throws ends it, with the rest of them gone. */
  drainWith(take: (event: CoordinationEvent) => void): void {
    assert(typeof take === "function", () => `what takes the events must be a function, got ${typeof take}`);
    for (const event of this.drain()) take(event);
  }

  /** Look at what is there, oldest first, and leave it. */
  [Symbol.iterator](): IterableIterator<CoordinationEvent> {
    return this.#events.values();
  }
}
