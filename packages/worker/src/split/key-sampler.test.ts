// A sampler that grows takes the memory of the whole run with it; one that forgets the beginning cannot tell how far the data reaches.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeySampler } from "./key-sampler.ts";

const numberOf = (key: Uint8Array): number => new DataView(key.buffer, key.byteOffset).getUint32(0);

function keyOf(n: number): Uint8Array {
  const key = new Uint8Array(4);
  new DataView(key.buffer).setUint32(0, n);
  return key;
}

describe("KeySampler", () => {
  test("holds the first key and every one a power of two apart, never more than its capacity nor, once full, less than half", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16 }).map((half) => 2 * half),
        fc.integer({ min: 0, max: 3000 }),
        (capacity, count) => {
          const sampler = new KeySampler(capacity);
          for (let n = 0; n < count; n++) sampler.add({ key: keyOf(n) });

          const numbers = sampler.keys.map(numberOf);
          let stride = 1;
          while (Math.ceil(count / stride) > capacity) stride *= 2;
          expect(numbers).toEqual(Array.from({ length: Math.ceil(count / stride) }, (_, index) => index * stride));
        },
      ),
    );
  });

  test("keeps copies: the block that a key was read in can be let go, or written again", () => {
    const sampler = new KeySampler(4);
    const block = Uint8Array.of(1, 2, 3, 4);
    sampler.add({ key: block.subarray(1, 3) });
    block.fill(9);
    expect(sampler.keys).toEqual([Uint8Array.of(2, 3)]);
    expect(sampler.keys[0]!.buffer.byteLength).toBe(2);
  });

  test("an odd capacity is refused", () => {
    expect(() => new KeySampler(3)).toThrow("capacity of the sampler must be even");
  });
});
