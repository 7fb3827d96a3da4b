import { assert, assertCount } from "@gossip/stdx";

const PENDING = 0;
const FINISHED = 1;
const SKIPPED = 2;

/** Names a place in a window until it is taken out at the front. */
export type Place = number;

/**
 * Items that were begun, in order, of which those in front are taken out once they are finished.
 *
 * Items of a shard finish in any order, but progress is one key: everything up to it is done. So what
 * finished behind an unfinished item waits here. The window has a capacity, because one slow
 * item must not let the results of a million others pile up behind it.
 *
 * Places are counted up and never come back, so a late answer for one that was dropped is recognised.
 */
export class FinishedPrefix<I, R> {
  readonly capacity: number;
  readonly #items: (I | undefined)[] = [];
  readonly #results: (R | undefined)[] = [];
  readonly #states: Uint8Array;
  #front: Place = 0;
  #back: Place = 0;

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

  /** Put an item that was begun at the back. */
  open(item: I): Place {
    assert(!this.isFull, "the window is full; take out what is finished first");
    const place = this.#back++;
    const index = place % this.capacity;
    this.#items[index] = item;
    this.#results[index] = undefined;
    this.#states[index] = PENDING;
    return place;
  }

  /** Say that an item is done. One that is no longer there, or done already, is left as it is: `false`. */
  finish(place: Place, result: R): boolean {
    if (!this.isPending(place)) return false;
    const index = place % this.capacity;
    this.#results[index] = result;
    this.#states[index] = FINISHED;
    return true;
  }

  /** Say that an item is not to be done: it is passed over, and has no result. */
  skip(place: Place): boolean {
    if (!this.isPending(place)) return false;
    this.#states[place % this.capacity] = SKIPPED;
    return true;
  }

  isPending(place: Place): boolean {
    return place >= this.#front && place < this.#back && this.#states[place % this.capacity] === PENDING;
  }

  /** Take out every item in front that is not pending, in order; `result` has none for one that was skipped. */
  drain(take: (item: I, result: R | undefined, isSkipped: boolean) => void): void {
    while (this.#front < this.#back) {
      const index = this.#front % this.capacity;
      const state = this.#states[index];
      if (state === PENDING) return;
      const item = this.#items[index] as I;
      const result = this.#results[index];
      this.#items[index] = undefined;
      this.#results[index] = undefined;
      // Before it is handed out: whatever `take` does, no item is handed out twice.
      this.#front++;
      take(item, result, state === SKIPPED);
    }
  }

  /** Forget everything. */
  clear(): void {
    this.#items.length = 0;
    this.#results.length = 0;
    this.#front = this.#back;
  }
}
