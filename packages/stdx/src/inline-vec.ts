import { assert, assertCount, assertIterable, nameType } from "./assert.ts";
import { INSPECT } from "./inspect-symbol.ts";

/** Largest capacity of an `InlineVec`. */
const MAX_INLINE_CAPACITY = 2 ** 31;

/**
 * A list planned for `capacity` items, that grows beyond where it must.
 *
 * `push` always succeeds. Past the capacity the list has *spilled*, and stays so, because nothing takes items out
 * again. Where more would be a mistake, check the count first.
 *
 * It takes memory for the items that are in it, not for `capacity` of them.
 */
export class InlineVec<T> {
  readonly capacity: number;
  #items: T[] = [];

  constructor(capacity: number) {
    assertCount(capacity, "capacity", { min: 1, max: MAX_INLINE_CAPACITY });
    this.capacity = capacity;
  }

  /** A list of a copy of these items. */
  static fromSlice<T>(items: readonly T[], capacity: number): InlineVec<T> {
    const vec = new InlineVec<T>(capacity);
    vec.extendFromSlice(items);
    return vec;
  }

  /**
   * A list of these items, without a copy if there are more than `capacity`.
   *
   * The array then belongs to the list: do not use it any more.
   */
  static fromArray<T>(items: T[], capacity: number): InlineVec<T> {
    const vec = new InlineVec<T>(capacity);
    assertArray(items);
    if (items.length <= capacity || !Object.isExtensible(items)) vec.extendFromSlice(items);
    else vec.#items = items;
    return vec;
  }

  static fromIterable<T>(items: Iterable<T>, capacity: number): InlineVec<T> {
    const vec = new InlineVec<T>(capacity);
    assertIterable(items, "items");
    vec.#items = Array.from(items);
    return vec;
  }

  get length(): number {
    return this.#items.length;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Whether the list has outgrown its capacity. */
  get isSpilled(): boolean {
    return this.#items.length > this.capacity;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Add these items. They may be the list's own: it then doubles. */
  extendFromSlice(items: readonly T[]): void {
    assertArray(items);
    // The count is taken once, because the list's own slice grows as it is read.
    const count = items.length;
    for (let index = 0; index < count; index++) this.#items.push(items[index]!);
  }

  /** The items themselves, not a copy: what is pushed later shows. */
  asSlice(): readonly T[] {
    return this.#items;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }

  /** A list of the same items and capacity that changes apart from this one. */
  clone(): InlineVec<T> {
    return InlineVec.fromSlice(this.#items, this.capacity);
  }

  /** Whether the items are the same in the same order, whatever the capacities. */
  equals(other: InlineVec<T>, isSame: (a: T, b: T) => boolean = Object.is): boolean {
    assert(other instanceof InlineVec, () => `other must be an InlineVec, got ${nameType(other)}`);
    const others = other.#items;
    return this.#items.length === others.length && this.#items.every((item, index) => isSame(item, others[index]!));
  }

  toJSON(): readonly T[] {
    return this.#items;
  }

  [INSPECT](): readonly T[] {
    return this.#items;
  }
}

function assertArray(items: unknown): asserts items is readonly unknown[] {
  assert(Array.isArray(items), () => `items must be an array, got ${nameType(items)}`);
}
