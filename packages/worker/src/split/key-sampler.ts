import { assert, assertCount } from "@gossip/stdx";

/**
 * Remembers a few of the keys that went by, evenly spread over all of them, in memory that does not grow.
 *
 * It keeps every key at first. Whenever it is full it forgets every other one and from then on keeps
 * half as many: what it holds is always the first key and every `stride`th after it.
 */
export class KeySampler {
  readonly #capacity: number;
  readonly #keys: Uint8Array[] = [];
  #stride = 1;
  #untilNext = 0;

  constructor(capacity: number = 64) {
    assertCount(capacity, "capacity of the sampler", { min: 2, max: 4096 });
    assert(capacity % 2 === 0, "capacity of the sampler must be even");
    this.#capacity = capacity;
  }

  /** Keys in the order in which they came. */
  get keys(): readonly Uint8Array[] {
    return this.#keys;
  }

  /** Hot: called for every item, and copies few of them. A key may be a view of a whole block that was read. */
  add(key: Uint8Array): void {
    if (this.#untilNext-- > 0) return;
    if (this.#keys.length === this.#capacity) {
      for (let index = 1; 2 * index < this.#capacity; index++) this.#keys[index] = this.#keys[2 * index]!;
      this.#keys.length = this.#capacity / 2;
      this.#stride *= 2;
      // The key in hand is the next in the thinner row: it came one old stride after the last, and that one was left out.
    }
    this.#keys.push(new Uint8Array(key));
    this.#untilNext = this.#stride - 1;
  }
}
