import type { RunId, TenantId } from "@gossip/contracts";
import { writeId, type ConsoleEventWire } from "@gossip/protocol";
import type { RunChange } from "@gossip/insight";

/** An event before it has a place in the log. */
export interface NewConsoleEvent extends Omit<RunChange, "kind" | "shard"> {
  readonly kind: string;
  readonly shard?: RunChange["shard"] | undefined;
  readonly workerName?: string | undefined;
}

/** Whose events a reader wants. */
export interface EventFilter {
  readonly tenant: TenantId;
  /** The id of a run as the protocol writes it; `undefined` for all runs. */
  readonly run: string | undefined;
}

interface Kept {
  readonly number: number;
  readonly event: ConsoleEventWire;
}

/** How many events a reader can go back to. */
const CAPACITY = 5000;
/** How many events a reader gets that has seen none. */
const MAX_RECENT = 300;

/**
 * What happened to runs, as looks at their records show it.
 *
 * An id names the log, the number of the event in it and its time. After a restart the number means nothing, and the
 * time still does: a reader gets what happened since, as far as records show it.
 */
export class ConsoleEventLog {
  readonly #epoch: string;
  readonly #events: Kept[] = [];
  readonly #listeners = new Set<(event: ConsoleEventWire) => void>();
  #next = 1;

  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  get readerCount(): number {
    return this.#listeners.size;
  }

  add({ tenant, run }: { readonly tenant: TenantId; readonly run: RunId }, event: NewConsoleEvent): void {
    const number = this.#next++;
    const wire = wireOf({ tenant, run }, event, `${this.#epoch}-${number}-${event.atMs}`);
    this.#events[number % CAPACITY] = { number, event: wire };
    for (const listener of this.#listeners) listener(wire);
  }

  /** Tell readers something that is not worth keeping. */
  tell({ tenant, run }: { readonly tenant: TenantId; readonly run: RunId }, kind: string, atMs: number): void {
    if (this.#listeners.size === 0) return;
    const wire = wireOf({ tenant, run }, { kind, atMs }, `${this.#epoch}-${this.#next - 1}-${atMs}`);
    for (const listener of this.#listeners) listener(wire);
  }

  listen(listener: (event: ConsoleEventWire) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The events after `id`, and whether some may be missing. */
  after(id: string): { readonly events: readonly ConsoleEventWire[]; readonly hasGap: boolean } {
    const [, epoch, number, atMs] = /^([0-9a-f]+)-(\d{1,15})-(\d{1,16})$/.exec(id) ?? [];
    if (epoch === undefined) return { events: [], hasGap: true };
    const kept = this.#kept();
    if (epoch !== this.#epoch)
      return { events: kept.filter(({ event }) => event.atMs > Number(atMs)).map(({ event }) => event), hasGap: true };
    const oldest = Math.max(1, this.#next - CAPACITY);
    return {
      events: kept.filter((each) => each.number > Number(number)).map(({ event }) => event),
      hasGap: Number(number) + 1 < oldest || Number(number) >= this.#next,
    };
  }

  /** The last events that a reader may see, oldest first. */
  recent({ tenant, run }: EventFilter): ConsoleEventWire[] {
    return this.#kept()
      .map(({ event }) => event)
      .filter((event) => event.tenant === tenant && (run === undefined || event.run === run))
      .slice(-MAX_RECENT);
  }

  /** The last events of one shard, newest first. */
  ofShard(place: { readonly tenant: TenantId; readonly run: RunId }, shard: string, limit: number): ConsoleEventWire[] {
    const run = writeId(place.run);
    return this.#kept()
      .map(({ event }) => event)
      .filter((event) => event.shard === shard && event.run === run && event.tenant === place.tenant)
      .slice(-limit)
      .toReversed();
  }

  #kept(): Kept[] {
    const kept: Kept[] = [];
    for (let number = Math.max(1, this.#next - CAPACITY); number < this.#next; number++)
      kept.push(this.#events[number % CAPACITY]!);
    return kept;
  }
}

function wireOf(
  { tenant, run }: { readonly tenant: TenantId; readonly run: RunId },
  { kind, atMs, shard, worker, workerName, fence, reason, children, opId }: NewConsoleEvent,
  id: string,
): ConsoleEventWire {
  return {
    id,
    kind,
    atMs,
    tenant,
    run: writeId(run),
    ...(shard === undefined ? {} : { shard: writeId(shard) }),
    ...(worker === undefined ? {} : { worker: writeId(worker) }),
    ...(workerName === undefined ? {} : { workerName }),
    ...(fence === undefined ? {} : { fence: fence.toString() }),
    ...(reason === undefined ? {} : { reason }),
    ...(children === undefined ? {} : { children: children.map(writeId) }),
    ...(opId === undefined ? {} : { opId: writeId(opId) }),
  };
}
