import { assert } from "./assert.ts";
import { assertCount } from "./assert-count.ts";
import { assertIterable } from "./assert-iterable.ts";
import { INSPECT } from "./inspect-symbol.ts";
import { nameType } from "./name-type.ts";
import { err, ok, type Result } from "./result.ts";

/** The largest power of two that an array can hold. */
const MAX_RING_CAPACITY = 2 ** 31;

/** A ring has no room for an item, and hands it back. */
export interface RingFull<T> {
  readonly kind: "RingFull";
  readonly item: T;
}

/**
 * Up to `capacity` items, oldest first. The capacity is a power of two.
 *
 * A full ring refuses the next item (`pushBack`), or drops its oldest for it
 * (`pushBackOverwrite`). Items stay where they are put: only the start moves on.
 */
export class RingBuffer<T> {
  readonly capacity: number;
  readonly #items: (T | undefined)[] = [];
  /** One below a power of two, so that going round is one `&`. */
  readonly #mask: number;
  #start = 0;
  #length = 0;

  constructor(capacity: number) {
    assertCount(capacity, "capacity", { min: 1, max: MAX_RING_CAPACITY });
    assert(Number.isInteger(Math.log2(capacity)), () => `capacity must be a power of two, got ${capacity}`);
    this.capacity = capacity;
    this.#mask = capacity - 1;
  }

  /** A ring of these items, which must not be more than `capacity`. */
  static from<T>(items: Iterable<T>, capacity: number): RingBuffer<T> {
    const ring = RingBuffer.tryFrom(items, capacity);
    assert(ring.ok, () => `there are more items than the ring's capacity of ${capacity}`);
    return ring.value;
  }

  /** As `from`, but more items than `capacity` are an answer: it names the first that has no room. */
  static tryFrom<T>(items: Iterable<T>, capacity: number): Result<RingBuffer<T>, RingFull<T>> {
    const ring = new RingBuffer<T>(capacity);
    assertIterable(items, "items");
    for (const item of items) {
      const pushed = ring.pushBack(item);
      if (!pushed.ok) return pushed;
    }
    return ok(ring);
  }

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get isFull(): boolean {
    return this.#length === this.capacity;
  }

  pushBack(item: T): Result<void, RingFull<T>> {
    if (this.isFull) return err({ kind: "RingFull", item });
    this.#items[this.#indexOf(this.#length)] = item;
    this.#length += 1;
    return ok();
  }

  /** Add an item, in the place of the oldest where the ring is full. Returns the one that had to go. */
  pushBackOverwrite(item: T): T | undefined {
    const evicted = this.isFull ? this.popFront() : undefined;
    this.#items[this.#indexOf(this.#length)] = item;
    this.#length += 1;
    return evicted;
  }

  popFront(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#items[this.#start];
    // The ring must not keep alive what it no longer holds.
    this.#items[this.#start] = undefined;
    this.#start = this.#indexOf(1);
    this.#length -= 1;
    return item;
  }

  /** The oldest item. */
  front(): T | undefined {
    return this.#at(0);
  }

  /** The newest item. */
  back(): T | undefined {
    return this.#at(this.#length - 1);
  }

  /** The item at an index, 0 being the oldest; `undefined` past the newest. */
  get(index: number): T | undefined {
    assertCount(index, "index", { min: 0, max: Number.MAX_SAFE_INTEGER });
    return this.#at(index);
  }

  clear(): void {
    this.#items.length = 0;
    this.#start = 0;
    this.#length = 0;
  }

  /** Oldest first. */
  *[Symbol.iterator](): Generator<T> {
    for (let index = 0; index < this.#length; index++) yield this.#at(index) as T;
  }

  /** Newest first. */
  *reversed(): Generator<T> {
    for (let index = this.#length - 1; index >= 0; index--) yield this.#at(index) as T;
  }

  /** A ring of the same items and capacity that changes apart from this one. */
  clone(): RingBuffer<T> {
    return RingBuffer.from(this, this.capacity);
  }

  /** Whether the items are the same in the same order, wherever they lie in the rings. */
  equals(other: RingBuffer<T>, isSame: (a: T, b: T) => boolean = Object.is): boolean {
    assert(other instanceof RingBuffer, () => `other must be a RingBuffer, got ${nameType(other)}`);
    if (this.#length !== other.#length) return false;
    for (let index = 0; index < this.#length; index++) {
      if (!isSame(this.#at(index) as T, other.#at(index) as T)) return false;
    }
    return true;
  }

  toJSON(): T[] {
    return [...this];
  }

  [INSPECT](): T[] {
    return [...this];
  }

  #at(index: number): T | undefined {
    return index >= 0 && index < this.#length ? this.#items[this.#indexOf(index)] : undefined;
  }

  #indexOf(index: number): number {
    return (this.#start + index) & this.#mask;
  }
}
