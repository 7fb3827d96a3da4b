import type { PipeJob } from "./pipe-job.ts";

const MIN_SLOTS = 256;

/**
 * The items that a process has not answered, by the ids under which they were sent.
 *
 * Ids grow, and an id whose slot is in use is passed over, so that an item that takes very long occupies one slot and
 * no others. Not a `Map`: its table is replaced again and again as entries come and go, and a dead table in the old
 * generation keeps all later ones alive with what is in them.
 */
export class SentJobs {
  #slots: (PipeJob | undefined)[] = emptySlots(MIN_SLOTS);
  #mask = MIN_SLOTS - 1;
  #lastId = 0;
  /** No item with a lower id is here. */
  #oldestId = 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Add an item. Returns its id. */
  add(job: PipeJob): number {
    if (2 * this.#size > this.#mask) this.#grow();
    do this.#lastId++;
    while (this.#slots[this.#lastId & this.#mask] !== undefined);
    job.id = this.#lastId;
    this.#slots[this.#lastId & this.#mask] = job;
    this.#size++;
    return this.#lastId;
  }

  /** Take out an item. `undefined` if there is none with this id. */
  take(id: number): PipeJob | undefined {
    const job = this.#slots[id & this.#mask];
    if (job?.id !== id) return undefined;
    this.#slots[id & this.#mask] = undefined;
    this.#size--;
    return job;
  }

  /** The item that was sent first. */
  get oldest(): PipeJob | undefined {
    for (; this.#oldestId <= this.#lastId; this.#oldestId++) {
      const job = this.#slots[this.#oldestId & this.#mask];
      if (job?.id === this.#oldestId) return job;
    }
    return undefined;
  }

  /** All items, in the order in which they were sent. */
  all(): readonly PipeJob[] {
    return this.#slots.filter((job) => job !== undefined).toSorted((a, b) => a.id - b.id);
  }

  /** Ids that differ in their slots differ in them also when there are twice as many. */
  #grow(): void {
    const jobs = this.#slots;
    this.#mask = 2 * jobs.length - 1;
    this.#slots = emptySlots(2 * jobs.length);
    for (const job of jobs) if (job !== undefined) this.#slots[job.id & this.#mask] = job;
  }
}

function emptySlots(count: number): (PipeJob | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
