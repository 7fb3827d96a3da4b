import { assert, assertCount } from "@gossip/stdx";

/**
 * Keeps a sample of the keys seen, evenly distributed, in constant memory.
 *
 * At first it keeps every key. When it is full it drops every other key and from then on keeps half as many, so it
 * always holds the first key and every `stride`th key after it.
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

  /** The sampled keys, in order. */
  get keys(): readonly Uint8Array[] {
    return this.#keys;
  }

  /** Hot: called for every item, and reads and copies only few keys. A key may be a view of a whole block. */
  add(item: { readonly key: Uint8Array }): void {
    if (this.#untilNext-- > 0) return;
    if (this.#keys.length === this.#capacity) {
      for (let index = 1; 2 * index < this.#capacity; index++) this.#keys[index] = this.#keys[2 * index]!;
      this.#keys.length = this.#capacity / 2;
      this.#stride *= 2;
      // This key is the next one at the new stride: it comes one old stride after the last key, which was dropped.
    }
    this.#keys.push(new Uint8Array(item.key));
    this.#untilNext = this.#stride - 1;
  }
}
