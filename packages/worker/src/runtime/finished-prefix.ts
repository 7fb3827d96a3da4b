import { assert, assertCount } from "@gossip/stdx";

const PENDING = 0;
const FINISHED = 1;
const SKIPPED = 2;

/** Identifies a started item in the window until it is taken out at the front. */
export type Slot = number;

/**
 * Started items in key order. Finished items are taken out at the front.
 *
 * Items of a shard finish in any order, but progress is one key: everything up to it is done. An item that finishes
 * after an unfinished one therefore waits here. The window has a capacity, so that one slow item cannot make the
 * results of a million others pile up.
 *
 * Slots count up and are never reused, so a late result for a dropped item is recognized.
 */
export class FinishedPrefix<I, R, S = undefined> {
  readonly capacity: number;
  readonly #items: (I | undefined)[] = [];
  /** The result of a finished item, or why an item was skipped. */
  readonly #results: (R | S | undefined)[] = [];
  readonly #states: Uint8Array;
  #front: Slot = 0;
  #back: Slot = 0;

  constructor(capacity: number) {
    assertCount(capacity, "capacity of the window", { min: 1, max: 2 ** 24 });
    this.capacity = capacity;
    this.#states = new Uint8Array(capacity);
  }

  get size(): number {
    return this.#back - this.#front;
  }

  get isEmpty(): boolean {
    return this.#back === this.#front;
  }

  get isFull(): boolean {
    return this.size === this.capacity;
  }

  /** Add a started item at the back. */
  open(item: I): Slot {
    assert(!this.isFull, "the window is full; take out what is finished first");
    const slot = this.#back++;
    const index = slot % this.capacity;
    this.#items[index] = item;
    this.#results[index] = undefined;
    this.#states[index] = PENDING;
    return slot;
  }

  /** Mark an item as finished. Returns `false` and does nothing if the item is gone or already finished. */
  finish(slot: Slot, result: R): boolean {
    if (!this.isPending(slot)) return false;
    const index = slot % this.capacity;
    this.#results[index] = result;
    this.#states[index] = FINISHED;
    return true;
  }

  /** Mark an item as skipped. It has a reason instead of a result. */
  skip(slot: Slot, reason: S): boolean {
    if (!this.isPending(slot)) return false;
    const index = slot % this.capacity;
    this.#results[index] = reason;
    this.#states[index] = SKIPPED;
    return true;
  }

  isPending(slot: Slot): boolean {
    return slot >= this.#front && slot < this.#back && this.#states[slot % this.capacity] === PENDING;
  }

  /**
   * Take out every item at the front that is not pending, in order, while `mayTake` allows it. A skipped item has its
   * reason instead of a result.
   */
  drain(take: (item: I, result: R | S, isSkipped: boolean) => void, mayTake: () => boolean = always): void {
    while (this.#front < this.#back && mayTake()) {
      const index = this.#front % this.capacity;
      const state = this.#states[index];
      if (state === PENDING) return;
      const item = this.#items[index] as I;
      const result = this.#results[index] as R | S;
      this.#items[index] = undefined;
      this.#results[index] = undefined;
      // Advance before calling `take`: no item is handed out twice, even if `take` throws.
      this.#front++;
      take(item, result, state === SKIPPED);
    }
  }

  /** Drop all items. */
  clear(): void {
    this.#items.length = 0;
    this.#results.length = 0;
    this.#front = this.#back;
  }
}

function always(): boolean {
  return true;
}
