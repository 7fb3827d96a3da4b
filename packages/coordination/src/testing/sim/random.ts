import { assert, assertCount } from "@gossip/stdx";

/** Chances are stated in parts of this. */
export const PPM = 1_000_000;

const U32 = 2 ** 32;
const WARM_UP_ROUNDS = 16;

/**
 * The simulator's only source of randomness: sfc32, frozen. A reproduction line depends on the numbers that a seed
 * gives, and on the order in which they are drawn.
 *
 * A seed has many streams, each named by a path of numbers, and each step of a run draws from its own. Leaving out a
 * step therefore does not change what the others draw, so a failing run can be shortened and still fail.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: bigint, ...path: readonly number[]) {
    assert(seed >= 0n && seed < 1n << 64n, "a seed must be a 64-bit integer that is not negative");
    this.#a = Number(seed & 0xffff_ffffn) | 0;
    this.#b = Number(seed >> 32n) | 0;
    this.#c = 0x9e3779b9 | 0;
    for (let round = 0; round < WARM_UP_ROUNDS; round++) this.u32();
    for (const number of path) this.#enter(number);
  }

  /** The next 32 bits, as an unsigned number. */
  u32(): number {
    const drawn = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + drawn) | 0;
    return drawn >>> 0;
  }

  /** One of 0, 1, …, `count` - 1. */
  below(count: number): number {
    assertCount(count, "number of choices", { min: 1, max: U32 });
    return Math.floor((this.u32() * count) / U32);
  }

  /** An integer from `min` to `max`, inclusive. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Returns `true` with a chance of `ppm` in a million. Draws nothing if the chance is zero. */
  chance(ppm: number): boolean {
    return ppm > 0 && this.below(PPM) < ppm;
  }

  pick<Item>(items: readonly Item[]): Item {
    assert(items.length > 0, "there must be something to pick from");
    return items[this.below(items.length)]!;
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.below(256));
  }

  #enter(number: number): void {
    this.#a ^= number | 0;
    this.#b ^= Math.floor(number / U32) | 0;
    for (let round = 0; round < WARM_UP_ROUNDS; round++) this.u32();
  }
}
